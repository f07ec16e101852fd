"""A source's energy in words, for cards, reports and commands: the formula with its figures, and the claim.

A figure never stands without its source, scope, method, token rate and claim.
"""

from workbench.escape import visible
from workbench.ledger.parts import PowerReading
from workbench.ledger.words import LONGEST_REASON, rate


def energy(reading: PowerReading) -> str:
    """What one source says of a token's energy, or why it may not."""
    where = visible(f"{reading.source}, {reading.scope}", 400)
    because = visible("; ".join(reading.claim_reasons), LONGEST_REASON)
    if reading.claim == "none" or reading.mwh_per_token_gross is None or reading.mean_w is None:
        return f"no claim from {where}: {because or 'too little was sampled'}"
    tps, net = reading.tps_in_window, reading.mwh_per_token_net
    formula = f" = {reading.mean_w:.1f} W / (3.6 x {rate(tps)} tok/s)" if tps else f", {reading.mean_w:.1f} W"
    joules = f", {reading.j_per_token_gross:.3g} J/token" if reading.j_per_token_gross is not None else ""
    above = f"; {round(net, 5) + 0.0:.3g} mWh above idle" if net is not None else ""
    over = f"over {reading.window_s:.1f} s " if reading.window_s is not None else ""
    method = f", {visible(reading.method)}" if reading.method else ""
    return (
        f"{reading.mwh_per_token_gross:.3g} mWh/token{formula}{joules} gross{above}; "
        f"{over}by {where}{method}; {visible(reading.claim)} claim" + (f": {because}" if because else "")
    )
