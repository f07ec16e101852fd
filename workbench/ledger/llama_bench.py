"""llama-bench's own JSON and JSONL as external rows.

Its rate is n_gen / T with a synchronisation after every token, from an empty cache unless a depth is given:
not the quantity that mlx-lm reports, and said so.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import msgspec

from workbench.errors import LedgerError
from workbench.ledger.imported import Imported
from workbench.ledger.record import Quantization, Record
from workbench.locations import shown

LLAMA_BENCH_RULE = "n_gen/T, synchronised after every token (llama-bench)"
LARGEST_FILE_BYTES = 200_000_000


class BenchRow(msgspec.Struct, frozen=True):
    """What is read of one llama-bench row; sizes in bytes, `avg_ts` in tok/s, `stddev_ts` likewise."""

    model_filename: str
    n_prompt: int
    n_gen: int
    avg_ts: float
    stddev_ts: float | None = None
    samples_ts: list[float] = msgspec.field(default_factory=list)
    build_commit: str | None = None
    build_number: int | None = None
    cpu_info: str | None = None
    gpu_info: str | None = None
    backends: str | None = None
    model_type: str | None = None
    model_size: int | None = None
    model_n_params: int | None = None
    n_batch: int | None = None
    n_threads: int | None = None
    n_gpu_layers: int | None = None
    n_depth: int = 0
    type_k: str | None = None
    type_v: str | None = None
    test_time: str | None = None


def import_llama_bench(path: Path, measured_by: str = "whoever ran llama-bench") -> Imported:
    """Records from `llama-bench -o json` or `-o jsonl`: one for each generation test.

    A prompt test of the same model and build gives that record its prompt rate. Mixed tests (prompt and
    generation in one rate) are refused. Raises `LedgerError` when the file is neither form.
    """
    values = _values(path)
    rows: list[tuple[int, BenchRow]] = []
    refused: list[tuple[int, str]] = []
    for number, value in values:
        try:
            rows.append((number, msgspec.convert(value, BenchRow, strict=False)))
        except msgspec.ValidationError as error:
            refused.append((number, f"the row is not llama-bench's: {error}"))
    prompts = {_test_bed(row): row for _, row in rows if row.n_prompt > 0 and row.n_gen == 0}
    records = []
    used = set()
    for number, row in rows:
        if row.n_gen > 0 and row.n_prompt > 0:
            refused.append((number, "a mixed test: its rate is of prompt and generation together"))
        elif row.n_gen > 0:
            prompt = prompts.get(_test_bed(row))
            used.add(_test_bed(row))
            records.append(_record(row, prompt, measured_by))
    records += [
        _record(row, row, measured_by)
        for _, row in rows
        if row.n_prompt > 0 and row.n_gen == 0 and _test_bed(row) not in used
    ]
    return Imported(tuple(records), tuple(sorted(refused)))


def _values(path: Path) -> list[tuple[int, Any]]:
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise _unreadable(path, "it is too large for a result")
        text = path.read_bytes().strip()
    except OSError as error:
        raise _unreadable(path, (error.strerror or "it cannot be read").lower()) from error
    try:
        if text.startswith(b"["):
            return list(enumerate(msgspec.json.decode(text, type=list[Any]), 1))
        return [(number, msgspec.json.decode(line)) for number, line in _numbered(text.splitlines())]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, why: str) -> LedgerError:
    return LedgerError(
        f"{shown(path)} is no llama-bench result: {why}.",
        "Name the output of llama-bench -o json or -o jsonl.",
        code="import_unreadable",
    )


def _numbered(lines: Iterable[bytes]) -> Iterable[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _test_bed(row: BenchRow) -> tuple[object, ...]:
    """What two tests must share to belong together."""
    return (
        row.model_filename,
        row.build_commit,
        row.backends,
        row.gpu_info,
        row.n_depth,
        row.n_threads,
        row.n_gpu_layers,
        row.type_k,
        row.type_v,
    )


def _record(row: BenchRow, prompt: BenchRow | None, measured_by: str) -> Record:
    device = (row.gpu_info or "").strip() or (row.cpu_info or "").strip() or None
    family, weight_format = _described(row.model_type)
    is_generation = row.n_gen > 0
    samples = [tps for tps in row.samples_ts if tps > 0] if is_generation else []
    mean = row.avg_ts if is_generation and row.avg_ts > 0 else None
    identity = str(uuid5(NAMESPACE_URL, f"llama-bench:{msgspec.json.encode(row).decode()}"))
    phase, tokens = ("Decode", row.n_gen) if is_generation else ("Prompt", row.n_prompt)
    depth = f" at depth {row.n_depth}" if row.n_depth else " from an empty cache"
    return Record(
        record_id=identity,
        run_group_id=identity,
        experiment="external",
        status="imported",
        reason="Imported from llama-bench: not measured here.",
        runtime="llama.cpp",
        runtime_commit=row.build_commit,
        measured_by=measured_by,
        scope=(
            f"{phase} phase, batch 1, {tokens} tokens{depth},"
            f" on {device or 'an unnamed device'} with llama.cpp ({row.backends or 'backend unknown'})"
            f": measured by {measured_by}, not here."
        ),
        device=device,
        date=row.test_time,
        model=re.split(r"[/\\]", row.model_filename)[-1],
        format="gguf",
        architecture=family,
        quantization=Quantization(mode=weight_format) if weight_format else None,
        weight_bytes_total=row.model_size,
        weight_bytes_per_token=row.model_size,
        rule="whole-file",
        max_tokens=row.n_gen or None,
        prompt_tokens=prompt.n_prompt if prompt is not None else None,
        repeats=len(samples) or None,
        batch=1,
        prompt_tps=prompt.avg_ts if prompt is not None and prompt.avg_ts > 0 else None,
        generation_tokens=row.n_gen or None,
        generation_tps=mean,
        decode_rule=LLAMA_BENCH_RULE if is_generation else None,
        repeats_tps=samples,
        tps_mean=mean,
        tps_sd=row.stddev_ts if is_generation else None,
        tps_cv=row.stddev_ts / mean if mean and row.stddev_ts is not None else None,
        energy_unavailable_reason="llama-bench measures none.",
    )


def _described(model_type: str | None) -> tuple[str | None, str | None]:
    """llama.cpp's description of a model, `qwen2 7B Q4_K - Medium`, as its family and its weight format."""
    words = (model_type or "").split()
    return (words[0] if words else None), (" ".join(words[2:]) or None)
