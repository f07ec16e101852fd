"""One record as a card: what a sceptical reader asks of a number, on one page."""

from typing import ClassVar

import msgspec
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen

from widgets.fact_list import Fact, FactList
from widgets.key_hints import KeyHints
from widgets.sizes import sized
from workbench.ledger.record import Record
from workbench.ledger.words import rate
from workbench.tui.bindings import bindings, hints
from workbench.tui.words import clock, measured_facts, outcome_facts, verdict_sentences


class CardScreen(Screen[None]):
    """A record that may be read, copied and left."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("card")]

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record

    def compose(self) -> ComposeResult:
        """The card, the hints."""
        with VerticalScroll(id="card") as box:
            box.border_title = "record"
            box.border_subtitle = self.record.record_id[:8]
            yield FactList(card_facts(self.record))
        yield KeyHints(hints(["leave_card", "copy_record", "ledger", "help", "leave_program"]))

    def on_mount(self) -> None:
        """Arrow keys scroll."""
        self.query_one("#card").focus()

    def action_leave_card(self) -> None:
        """Back to where the card was opened."""
        self.app.pop_screen()

    def action_copy_record(self) -> None:
        """The record's line to the clipboard."""
        copy_record(self, self.record)


def copy_record(screen: Screen[None], record: Record) -> None:
    """Put the record's JSON line on the clipboard, and say that a terminal may refuse that."""
    screen.app.copy_to_clipboard(msgspec.json.encode(record).decode())
    screen.notify(
        "Copied the record's line. If your terminal refuses: `workbench ledger --json` prints it.",
        markup=False,
    )


def card_facts(record: Record) -> list[Fact]:
    """The card: alias, date, versions, model, bytes, prediction, measurement, the gap, the verdict."""
    versions = ", ".join(
        f"{name} {version}"
        for name, version in (("mlx", record.mlx), ("mlx-lm", record.mlx_lm), ("python", record.python))
        if version
    )
    system = " ".join(part for part in (record.macos or record.os, record.os_build) if part)
    device = record.device if record.device and record.device != record.alias else ""
    lines = [
        Fact("model", record.model or "–", "synthetic weights" if record.synthetic_weights else ""),
        Fact("status", record.status, record.reason or "", mark=record.status != "measured"),
        Fact("date", record.date or "–"),
        Fact("machine", record.alias or record.device or "–", device),
        Fact("system", system or "–", versions),
    ]
    if record.quantization is not None and record.quantization.bits is not None:
        q = record.quantization
        group = f"groups of {q.group_size}" if q.group_size else ""
        lines.append(Fact("quantization", f"{q.bits:g} bit", f"{group}{', mixed' if q.mixed else ''}"))
    if record.weight_bytes_per_token is not None:
        lines.append(
            Fact("a token reads", sized(record.weight_bytes_per_token), f"rule {record.rule or '–'}")
        )
    if record.bandwidth_gbps is not None:
        kind = f"{record.bandwidth_kind or 'stated'} {record.bandwidth_gbps:g} GB/s"
        lines.append(Fact("bandwidth", kind, record.bandwidth_source or ""))
    lines += [Fact("ceiling", f"{rate(c.tps)} tok/s", c.name) for c in record.ceilings]
    if record.predicted_at:
        loaded = clock(record.loaded_at) if record.loaded_at else "never"
        said = f"{rate(record.predicted_tps_human)} tok/s" if record.predicted_tps_human else "–"
        lines.append(Fact("predicted", said, f"at {clock(record.predicted_at)}, load began {loaded}"))
    if record.generation_tps is not None:
        lines.append(Fact("measured", f"{rate(record.generation_tps)} tok/s", record.decode_rule or ""))
    if record.status == "measured":
        lines += [*outcome_facts(record), *measured_facts(record)]
    lines += [Fact("fraction", f"{f.value * 100:.1f} %", f.of, mark=f.value > 1) for f in record.fractions]
    lines.append(Fact("verdict", record.verdict or "none", mark=record.verdict == "counting error"))
    lines += [Fact("", "", sentence) for sentence in verdict_sentences(record)]
    lines += [Fact("warning", "", warning.message, mark=True) for warning in record.warnings]
    return lines
