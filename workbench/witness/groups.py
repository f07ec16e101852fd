"""Which tensors are damaged together when the witness is put to the proof: one group a role. Pure."""

from workbench.accounting.count import Count
from workbench.accounting.roles import Role

_ORDER = (
    Role.VISION,
    Role.AUDIO,
    Role.PROJECTOR,
    Role.DRAFT,
    Role.EMBEDDING,
    Role.POSITION,
    Role.HEAD,
    Role.EXPERT,
    Role.SHARED_EXPERT,
    Role.ROUTER,
    Role.MLP,
    Role.ATTENTION,
    Role.LINEAR_ATTENTION,
    Role.NORM,
    Role.OTHER,
)
"""What a reader doubts first comes first."""


def by_role(count: Count) -> dict[str, list[str]]:
    """Role -> the names of its tensors, for every role that the checkpoint has."""
    groups: dict[str, list[str]] = {str(role): [] for role in _ORDER}
    for row in count.rows:
        groups[str(row.role)].append(row.name)
    return {role: names for role, names in groups.items() if names}
