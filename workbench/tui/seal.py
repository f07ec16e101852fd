"""The seal that the decode graph puts on a count, in words. Pure."""

from dataclasses import dataclass
from typing import Literal

from widgets.sizes import sized
from workbench.accounting.count import Count
from workbench.ledger.words import signed_percent
from workbench.witness.agreement import Agreement, Status

State = Literal["looking", "agrees", "differs", "none"]
NOT_AWAITED = "the look at the decode graph was stopped by the user"


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """What came of a look at the graph: the seal, with the graph's reading where there is one."""

    agreement: Agreement


def given_up(count: Count) -> Looked:
    """The seal of a count whose graph the user did not wait for."""
    return Looked(Agreement(Status.NOT_WITNESSED, count.weight_bytes_by_rules, reason=NOT_AWAITED))


def state_of(looked: Looked | None) -> State:
    """The seal's state; `looking` before there is one."""
    if looked is None:
        return "looking"
    return _STATES[looked.agreement.status]


def seal_words(looked: Looked | None, rule: str = "count", *, overridden: bool = False) -> str:
    """The seal in a sentence, its sign first. `rule` is the one that the ceiling uses."""
    if looked is None:
        return "○ the decode graph is being read (s: do without it)"
    one = looked.agreement
    if one.graph_bytes is None:
        return f"○ not witnessed: {one.reason}; the count stands alone"
    where = f"at context {one.at_context}, mlx-lm {one.mlx_lm}"
    if one.status is Status.AGREES:
        assumed = "; its routing was assumed" if one.assumed_routing else ""
        otherwise = sum(each.tensors for each in one.disagreements)
        apart = (
            f"; {otherwise:,} tensor{'s are' if otherwise > 1 else ' is'} read otherwise" if otherwise else ""
        )
        return f"✓ count and graph agree: {sized(one.graph_bytes)} {where}{assumed}{apart}"
    if one.refused:
        return f"✗ the count was refused; the graph reads {sized(one.graph_bytes)} {where}"
    apart = "" if one.difference is None else f" ({signed_percent(one.difference)})"
    by = "graph" if rule == "count" else f"rule {rule}"
    in_force = f"the ceiling uses the {'override' if overridden and rule == 'count' else by}"
    return (
        f"✗ count and graph differ: {sized(one.count_bytes)} and {sized(one.graph_bytes)}{apart} {where}; "
        f"{in_force}"
    )


_STATES: dict[Status, State] = {
    Status.AGREES: "agrees",
    Status.DIFFERS: "differs",
    Status.NOT_WITNESSED: "none",
}
