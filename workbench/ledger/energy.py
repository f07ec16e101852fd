"""A source's energy in words, on cards and in reports: never without its claim, its scope and the formula."""

from workbench.escape import visible
from workbench.ledger.parts import PowerReading
from workbench.ledger.words import LONGEST_REASON, rate

ENERGY_FORMULA = "energy per token = power / (3.6 x tok/s)"


def energy(reading: PowerReading) -> str:
    """What one source says of a token's energy, or why it may not."""
    where = visible(f"{reading.source}, {reading.scope}", 400)
    if reading.claim == "none" or reading.mwh_per_token_gross is None or reading.mean_w is None:
        reasons = visible(", ".join(reading.claim_reasons) or "too little was sampled", LONGEST_REASON)
        return f"no claim from {where} ({reasons})"
    tps = f" at {rate(reading.tps_in_window)} tok/s" if reading.tps_in_window is not None else ""
    joules = f" = {reading.j_per_token_gross:.3g} J" if reading.j_per_token_gross is not None else ""
    over = f" over {reading.window_s:.1f} s" if reading.window_s is not None else ""
    method = f", {visible(reading.method)}" if reading.method else ""
    return (
        f"{visible(reading.claim)}: {reading.mwh_per_token_gross:.3g} mWh/token{joules} gross, "
        f"{reading.mean_w:.1f} W{tps}{over} by {where}{method} ({ENERGY_FORMULA})"
    )
