"""The power validator: parts of a machine never draw more than the whole machine.

The power room's twin of "no fraction above 100 %". Rails above the whole by more than 10 % have been seen on
real Macs (GPU 87 W beside 52 W for the system): somewhere energy is counted twice, or a meter is wrong.
"""

from collections.abc import Sequence

from workbench.power.source import Row

WHOLE_LIMIT = 1.10
COUNTING_ERROR = "power counting error"


def counting_errors(rows: Sequence[Row], watts: Sequence[float | None]) -> dict[int, str]:
    """By index into `rows`, what is wrong: both the parts and the whole they exceed; empty when all is well.

    `watts` are the rows' mean watts over one and the same window, None where a row has none.
    """
    found: dict[int, str] = {}
    for part, part_w in enumerate(watts):
        for whole, whole_w in enumerate(watts):
            if part_w is None or whole_w is None or rows[part].whole_machine or not rows[whole].whole_machine:
                continue
            if part_w > WHOLE_LIMIT * whole_w:
                sentence = (
                    f"{COUNTING_ERROR}: {rows[part].key} reads {part_w:.1f} W,"
                    f" more than the whole machine's {whole_w:.1f} W ({rows[whole].key})"
                )
                found.setdefault(part, sentence)
                found.setdefault(whole, sentence)
    return found
