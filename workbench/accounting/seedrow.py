"""The seed rule on some of the tensors: what its four rules make of a module, for a column beside the count.

The rule itself is `seedrule`; nothing is judged anew here, and nothing may be made smarter.
"""

from collections.abc import Iterable

from workbench.accounting.count import Alike, Row, SeedCount
from workbench.accounting.roles import Role
from workbench.accounting.seedrule import role_by_name


def seed_bytes(rows: Iterable[Row | Alike], seed: SeedCount) -> int:
    """Bytes per token that the seed rule counts of these rows; `seed` is the whole checkpoint's.

    Over all rows of a count it is `seed.weight_bytes`, but for files that the count does not know.
    """
    whole = routed = 0
    for row in rows:
        role = role_by_name(row.name)
        if role is Role.VISION or (role is Role.EMBEDDING and not seed.tied):
            continue
        if role is Role.EXPERT and seed.experts:
            routed += row.disk_bytes
        else:
            whole += row.disk_bytes
    return whole + (routed * seed.experts_per_token // seed.experts if seed.experts else 0)
