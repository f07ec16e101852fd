"""llama-bench's own JSON and JSONL as external rows.

Its rate is n_gen / T with a synchronisation after every token, from an empty cache unless a depth is given:
not the quantity that mlx-lm reports, and said so.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

import msgspec

from workbench.errors import LedgerError
from workbench.ledger.imported import Imported
from workbench.ledger.parts import Quantization, Whole
from workbench.ledger.record import Record
from workbench.ledger.store import UNDECODABLE
from workbench.locations import shown

LLAMA_BENCH_RULE = "n_gen/T, synchronised after every token (llama-bench)"
LARGEST_FILE_BYTES = 200_000_000


class BenchRow(msgspec.Struct, frozen=True):
    """What is read of one llama-bench row; sizes in bytes, `avg_ts` in tok/s, `stddev_ts` likewise."""

    model_filename: str
    n_prompt: Whole
    n_gen: Whole
    avg_ts: float
    stddev_ts: float | None = None
    samples_ts: list[float] = msgspec.field(default_factory=list)
    build_commit: str | None = None
    cpu_info: str | None = None
    gpu_info: str | None = None
    backends: str | None = None
    model_type: str | None = None
    model_size: Whole | None = None
    n_depth: Whole = 0
    test_time: str | None = None
    # before `backends` (2023 and 2024) each had a field of its own
    cuda: bool = False
    metal: bool = False
    vulkan: bool = False
    sycl: bool = False
    kompute: bool = False
    opencl: bool = False
    gpu_blas: bool = False
    blas: bool = False

    @property
    def backend(self) -> str:
        """Where it ran, as far as the row says."""
        flags = ("cuda", "metal", "vulkan", "sycl", "kompute", "opencl", "gpu_blas", "blas")
        return self.backends or next((name for name in flags if getattr(self, name)), "backend unknown")


def import_llama_bench(path: Path, measured_by: str = "whoever ran llama-bench") -> Imported:
    """Records from `llama-bench -o json` or `-o jsonl`: one for each generation test.

    A prompt test of the same model and build gives that record its prompt rate. Mixed tests (prompt and
    generation in one rate) are refused. Raises `LedgerError` when the file is neither form.
    """
    tests: list[_Test] = []
    refused: list[tuple[int, str]] = []
    for number, value in _values(path, refused):
        try:
            row = msgspec.convert(value, BenchRow, strict=False)
        except msgspec.ValidationError as error:
            refused.append((number, f"the row is not llama-bench's: {error}"))
            continue
        if row.n_gen > 0 and row.n_prompt > 0:
            refused.append((number, "a mixed test: its rate is of prompt and generation together"))
        else:
            tests.append(_test(row, value))
    prompts = {test.bed: test for test in tests if test.row.n_prompt > 0}
    generations = [test for test in tests if test.row.n_gen > 0]
    records = [_record(test, prompts.get(test.bed), measured_by) for test in generations]
    used = {test.bed for test in generations}
    records += [_record(prompt, prompt, measured_by) for bed, prompt in prompts.items() if bed not in used]
    return Imported(tuple(records), tuple(sorted(refused)))


class _Test(NamedTuple):
    """One row, its identity, and its test bed: all that another test must share with it to belong to it."""

    row: BenchRow
    record_id: str
    bed: str


def _test(row: BenchRow, value: dict[str, Any]) -> _Test:
    identity = str(uuid5(NAMESPACE_URL, f"llama-bench:{_canonical(value)}"))
    return _Test(row, identity, _canonical({name: of for name, of in value.items() if name not in _OF_ONE}))


_OF_ONE = {"n_prompt", "n_gen", "test_time"} | {
    f"{what}_{unit}" for what in ("avg", "stddev", "samples") for unit in ("ns", "ts")
}
"""What two tests of one bed do not share: how many tokens, and their results."""


def _canonical(fields: dict[str, Any]) -> str:
    return msgspec.json.encode(fields, order="sorted").decode()


def is_row(value: Any) -> bool:
    """Whether a decoded line may be a row of llama-bench, of 2023 or of today."""
    return isinstance(value, dict) and {"n_prompt", "n_gen", "avg_ts"} <= set(value)


def _values(path: Path, refused: list[tuple[int, str]]) -> list[tuple[int, Any]]:
    """The rows with their numbers; a line that is no JSON (a log's, a torn last one) is `refused`."""
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise _unreadable(path, "it is too large for a result")
        text = path.read_bytes().strip()
    except OSError as error:
        raise _unreadable(path, (error.strerror or "it cannot be read").lower()) from error
    try:
        if text.startswith(b"["):
            return list(enumerate(msgspec.json.decode(text, type=list[Any]), 1))
    except UNDECODABLE as error:
        raise _unreadable(path, str(error)) from error
    found = []
    for number, line in _numbered(text.splitlines()):
        try:
            found.append((number, msgspec.json.decode(line)))
        except UNDECODABLE:
            refused.append((number, "the line is no JSON"))
    return found


def _unreadable(path: Path, why: str) -> LedgerError:
    return LedgerError(
        f"{shown(path)} is no llama-bench result: {why}.",
        "Name the output of llama-bench -o json or -o jsonl.",
        code="import_unreadable",
    )


def _numbered(lines: Iterable[bytes]) -> Iterable[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _record(test: _Test, of_prompt: _Test | None, measured_by: str) -> Record:
    row, prompt = test.row, of_prompt.row if of_prompt is not None else None
    device = (row.gpu_info or "").strip() or (row.cpu_info or "").strip() or None
    family, weight_format = _described(row.model_type)
    is_generation = row.n_gen > 0
    samples = [tps for tps in row.samples_ts if tps > 0] if is_generation else []
    mean = row.avg_ts if is_generation and row.avg_ts > 0 else None
    phase, tokens = ("Decode", row.n_gen) if is_generation else ("Prompt", row.n_prompt)
    depth = f" at depth {row.n_depth}" if row.n_depth else " from an empty cache"
    return Record(
        record_id=test.record_id,
        run_group_id=test.record_id,
        experiment="external",
        status="imported",
        reason="Imported from llama-bench: not measured here.",
        runtime="llama.cpp",
        runtime_commit=row.build_commit,
        measured_by=measured_by,
        scope=(
            f"{phase} phase, batch 1, {tokens} tokens{depth},"
            f" on {device or 'an unnamed device'} with llama.cpp ({row.backend})"
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
    """llama.cpp's description of a model, `qwen2 7B Q4_K - Medium`, as its family and its weight format.

    It said `mostly Q4_0` until 2024.
    """
    words = [word for word in (model_type or "").split() if word != "mostly"]
    return (words[0] if words else None), (" ".join(words[2:]) or None)
