"""Why the seed rule gives another figure than the count, in words: one short reason per role."""

from workbench.accounting.compare import Difference, against_seed
from workbench.accounting.count import Count
from workbench.accounting.roles import Role

_UNREAD = {
    Role.VISION: "vision counted",
    Role.AUDIO: "audio counted",
    Role.PROJECTOR: "projector counted",
    Role.DRAFT: "next-n layers counted",
    Role.POSITION: "positions counted in full",
    Role.ATTENTION: "attention weights that no step reads counted",
    Role.HEAD: "a head counted that is not read",
}


def against_seed_in_words(count: Count) -> tuple[str, ...]:
    """The reasons, the weightiest first; empty where both rules agree."""
    return tuple(dict.fromkeys(_reason(part, count) for part in against_seed(count)))


def _reason(part: Difference, count: Count) -> str:
    more = part.difference_bytes > 0
    if "looped" in part.rules and not more:
        return "looped layers counted once"
    if part.role is Role.EXPERT:
        return _experts(more, count)
    if part.role is Role.EMBEDDING:
        return _embedding(more, part)
    if part.role is Role.OTHER:
        return "files beside the model counted" if more else "read more than once"
    if more:
        return _UNREAD.get(part.role, f"{part.role} counted that is not read".replace("_", " "))
    return "read more than once" if part.role is Role.ROUTER else f"{part.role} left out".replace("_", " ")


def _experts(more: bool, count: Count) -> str:
    if not more:
        return "experts counted as zero: k under another key"
    if not count.seed.experts:
        return "all experts counted: E under another key"
    return "experts under another name counted in full"


def _embedding(more: bool, part: Difference) -> str:
    if not more:
        return "head left out: tied without a flag"
    if "lookup-table" in part.rules:
        return "look-up tables counted in full"
    return "embedding counted in full"
