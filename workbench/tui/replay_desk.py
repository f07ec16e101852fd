"""A replay laid on the desk: what the screens paint of a recorded run, and the words that mark it. Pure."""

from workbench.ledger.record import Record
from workbench.protocol.playback import Tempo
from workbench.protocol.replaying import Replay
from workbench.tui.desk import Desk
from workbench.tui.seal import Looked
from workbench.tui.words import predictions_text
from workbench.witness.agreement import Agreement, Status

NOTE = " (replay)"
"""Stands in the titles of screens that open from a replay."""


def desk_of(replay: Replay) -> Desk:
    """The desk before the prediction."""
    plan = replay.plan
    return Desk(
        name=plan.checkpoint.name,
        path=plan.checkpoint.path,
        checkpoint=plan.checkpoint,
        count=plan.count,
        looked=_looked(replay.record),
        figures=plan.bandwidths,
        rule=plan.rule,
    )


def banner(replay: Replay, tempo: Tempo, desk: Desk) -> str:
    """What says on every page that this is no measurement."""
    record = replay.record
    state = "■" if desk.record is not None else "‖ held" if tempo.paused else "▶"
    where = ", ".join(part for part in (record.alias or record.device, (record.date or "")[:10]) if part)
    even = " Token times are synthesized evenly from the rate." if replay.is_even else ""
    return f"{state} REPLAY x{tempo.speed:g}: {where}. Nothing is measured, nothing is recorded.{even}"


def offered(record: Record) -> str:
    """What people said then, as one would type it; empty where nobody's number is in the record."""
    if record.predictions:
        return predictions_text(record.predictions)
    return f"{record.predicted_tps_human:g}" if record.predicted_tps_human is not None else ""


def _looked(record: Record) -> Looked:
    """The witness's seal as it was recorded."""
    witness, count_bytes = record.witness, record.weight_bytes_per_token or 0
    if witness is None or witness.bytes_per_token is None or witness.status not in set(Status):
        reason = (witness.reason if witness is not None else None) or "the record holds no witness"
        return Looked(Agreement(Status.NOT_WITNESSED, count_bytes, reason=reason))
    untouched = record.weight_bytes_per_token_without_overrides or count_bytes
    return Looked(
        Agreement(
            Status(witness.status),
            untouched,
            graph_bytes=witness.bytes_per_token,
            difference=witness.bytes_per_token / untouched - 1 if untouched else None,
            at_context=witness.at_context,
            mlx_lm=witness.mlx_lm,
        )
    )
