"""The report of "Bandwidth Ledger": every item that lets somebody else check a number, and its ledger row.

Label and text pairs; an energy claim carries device, method, rate and formula, or is none.
"""

from workbench.escape import visible
from workbench.ledger.card import (
    Line,
    bandwidth,
    bits,
    bytes_per_token,
    measurement,
    programs_of,
)
from workbench.ledger.energy import energy
from workbench.ledger.export import markdown_text
from workbench.ledger.record import Record
from workbench.ledger.words import LONGEST_REASON, NOT_MEASURED, gb, percent, rate


def report(record: Record) -> list[Line]:
    """The nine items of the report, in the source document's order."""
    peak = f"{record.peak_memory_gb:.2f} GB" if record.peak_memory_gb is not None else NOT_MEASURED
    return [
        ("device and source of its bandwidth", f"{_device(record)}; {bandwidth(record)}"),
        ("runtime and commit", _runtime(record)),
        ("model file and format", _files(record)),
        ("command", visible(" ".join(record.command), 500) if record.command else "not recorded"),
        ("prompt processing", _prompt(record)),
        ("decode", measurement(record)),
        ("peak memory", peak),
        ("power or energy", _energy(record)),
        ("interpretation", _interpretation(record)),
    ]


def row(record: Record) -> list[Line]:
    """The ledger row: bytes per forward pass, predicted, measured, utilization."""
    predicted, measured = record.predicted_decode_tps, record.generation_tps
    utilization = percent(measured / predicted) if predicted and measured else NOT_MEASURED
    return [
        ("bytes per forward pass", bytes_per_token(record)),
        ("predicted tok/s", rate(predicted) if predicted is not None else "no bandwidth figure"),
        ("measured tok/s", rate(measured) if measured is not None else NOT_MEASURED),
        ("utilization", utilization),
    ]


def as_markdown(lines: list[Line], title: str = "") -> str:
    """The pairs as a Markdown list below a heading."""
    heading = [f"## {markdown_text(title)}", ""] if title else []
    return "\n".join(
        [
            *heading,
            *(
                f"- **{label}**: {markdown_text(text)}" if label else f"  - {markdown_text(text)}"
                for label, text in lines
            ),
        ]
    )


def _device(record: Record) -> str:
    alias = f" ({visible(record.alias)})" if record.alias and record.alias != record.device else ""
    return f"{visible(record.device) if record.device else 'device unknown'}{alias}"


def _runtime(record: Record) -> str:
    commit = (
        f"commit {visible(record.runtime_commit, 60)}" if record.runtime_commit else "commit not recorded"
    )
    programs = ", ".join(programs_of(record))
    return f"{visible(record.runtime)}, {commit}{f'; {programs}' if programs else ''}"


def _files(record: Record) -> str:
    if record.model is None:
        return "none"
    sizes = [file.bytes for file in record.files or []]
    files = f", {len(sizes)} file{'s' if len(sizes) != 1 else ''} of {gb(sum(sizes))}" if sizes else ""
    revision = f", revision {visible(record.revision, 60)}" if record.revision else ""
    form = visible(record.format or "format unknown")
    return f"{visible(record.model)}{revision}; {form}, {bits(record, '-bit')}{files}"


def _prompt(record: Record) -> str:
    if record.prompt_tps is None:
        return NOT_MEASURED
    tokens = f" over {record.prompt_tokens} tokens" if record.prompt_tokens else ""
    first = f", first token after {record.ttft_s * 1e3:.0f} ms" if record.ttft_s is not None else ""
    return f"{rate(record.prompt_tps)} tok/s{tokens}{first}"


def _energy(record: Record) -> str:
    if not record.power:
        return visible(record.energy_unavailable_reason or NOT_MEASURED, LONGEST_REASON)
    return "; ".join(energy(reading) for reading in record.power)


def _interpretation(record: Record) -> str:
    scope = visible(record.scope, 500) if record.scope else "Decode phase, batch 1, the machine named above."
    reason = f" {visible(record.verdict_reasons[0], LONGEST_REASON)}" if record.verdict_reasons else ""
    return f"{scope} Verdict: {visible(record.verdict or 'none')}.{reason}"
