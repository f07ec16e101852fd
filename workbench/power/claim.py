"""What a reading may claim: valid, indicative, or none; each with its reasons in words.

Valid needs a window of 10 s, 8 samples and edges that cannot matter by more than 5 %. Nothing else here.
"""

from collections.abc import Sequence
from enum import StrEnum

WINDOW_VALID_S = 10.0
WINDOW_INDICATIVE_S = 2.0
SAMPLES_VALID = 8
SAMPLES_INDICATIVE = 2
EDGE_VALID = 0.051  # 5 %, and room for the clocks' own jitter at the shortest window
EDGE_INDICATIVE = 0.25
RATE_VALID = 0.10  # how far the window's rate may lie from the repeats' before its energy is not theirs


class Claim(StrEnum):
    """How far a figure carries."""

    VALID = "valid"
    INDICATIVE = "indicative"
    NONE = "none"


def judge(
    window_s: float,
    samples: int,
    edge_uncertainty: float,
    faults: Sequence[str] = (),
    doubts: Sequence[str] = (),
) -> tuple[Claim, list[str]]:
    """The claim of one window, and why it is not more.

    `faults` (a stalled rail, a counting error) forbid any claim, `doubts` (throttling, a failed cross-check)
    a valid one.
    """
    none, weak = list(faults), list(doubts)
    if window_s < WINDOW_INDICATIVE_S:
        none.append(f"the window is {window_s:.1f} s; even an indication needs {WINDOW_INDICATIVE_S:g} s")
    elif window_s < WINDOW_VALID_S:
        weak.append(f"the window is {window_s:.1f} s; a claim needs {WINDOW_VALID_S:g} s")
    if samples < SAMPLES_INDICATIVE:
        none.append(f"{_samples(samples)} in the window; even an indication needs {SAMPLES_INDICATIVE}")
    elif samples < SAMPLES_VALID:
        weak.append(f"{_samples(samples)} in the window; a claim needs {SAMPLES_VALID}")
    if edge_uncertainty > EDGE_INDICATIVE:
        none.append(f"the edges may matter by {edge_uncertainty * 100:.0f} %; even an indication needs 25 %")
    elif edge_uncertainty > EDGE_VALID:
        needed_s = max(WINDOW_VALID_S, edge_uncertainty * window_s / 0.05)
        weak.append(
            f"the edges may matter by {edge_uncertainty * 100:.0f} %; 5 % needs a window of {needed_s:.0f} s"
        )
    if none:
        return Claim.NONE, none + weak
    return (Claim.INDICATIVE, weak) if weak else (Claim.VALID, [])


def other_rate(window_tps: float | None, repeats_tps: float | None) -> str | None:
    """What is wrong when the window ran at another rate than the repeats: a token's share of idle differs."""
    if not window_tps or not repeats_tps:
        return None
    apart = abs(window_tps / repeats_tps - 1)
    if apart <= RATE_VALID:
        return None
    rates = f"the window ran at {window_tps:,.1f} tok/s, the repeats at {repeats_tps:,.1f}"
    return f"{rates}: {apart * 100:.0f} % apart (limit 10 %)"


def _samples(count: int) -> str:
    return "1 sample" if count == 1 else f"{count} samples"
