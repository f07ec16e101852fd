"""Write docs/architectures.md: for every architecture, what a token reads, by the count and by the seed rule.

python -m tests.bench.architecture_table            # writes docs/architectures.md
python -m tests.bench.architecture_table --check    # exit 1 if the file is not what would be written
"""

import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.seed_reasons import against_seed_in_words
from tests.checkpoints import checkpoint, fixture, in_memory, names
from workbench.accounting.count import Count
from workbench.accounting.engine import count

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "truth"
PAGE = ROOT / "docs" / "architectures.md"
DTYPES = {"float32": "F32", "bfloat16": "BF16", "uint32": "U32", "uint8": "U8"}

HEAD = """# What a token reads, architecture by architecture

This page is written by `python -m tests.bench.architecture_table`; the tests hold every line of it.
*Count* is what the rules say one batch-1 decode step reads; *seed rule* is the four rules of "The Decode
Ceiling", taken literally; the last column says where the two part. A seed rule above 1.00 gives a ceiling
that is too low; below 1.00 one that is too high, which no fraction over 100 % can ever show.
"""

PUBLISHED = """
## Published checkpoints

Bytes from the headers of real checkpoints, in GB (10^9).

| checkpoint | on disk | count | seed rule | seed / count | where they part |
|---|---:|---:|---:|---:|---|
"""

EXECUTED = """
## Architectures of mlx-lm 0.32.2, executed

Small configurations in which every parameter was damaged in turn to see whether a decode step reads it; the
ratios are of these configurations, not of real models. *Executed* is what the step was seen to read, in
bytes.

| architecture | executed | count | count / executed | seed / count | where seed and count part |
|---|---:|---:|---:|---:|---|
"""

UNLIKE = """
## Where count and execution part

* `longcat_flash`: a slot that is routed to an expert without weights reads expert 0 and multiplies it by
  zero. The bytes are read; damaging them changes nothing.
* `minimax_m3_vl`: the executed step attends to 36 tokens, above this configuration's threshold of 8, and its
  sparse attention's indexer works. The count shows the indexer in the context table, from the threshold on.
"""

UNEXECUTED = """
## Not executed

`bitnet` and `muse_spark` need a Metal kernel, and `phi3small` does not survive on a CPU: their parameters
were listed from mlx-lm's own model classes and read in its source, and the count agrees with that reading.
`prism_hadamard_qwen35` keeps packed integers that cannot be damaged a little, and `olmo` needs a package of
its own: their names are counted as those of the architectures that they are built from.
"""


def page() -> str:
    """The whole page."""
    return "".join((HEAD, PUBLISHED, *_published(), EXECUTED, *_executed(), UNLIKE, UNEXECUTED))


def _published() -> Iterator[str]:
    for name in names():
        if fixture(name).get("gguf"):
            continue
        found = count(in_memory(name))
        cells = (_gb(found.disk_bytes), _gb(found.weight_bytes), _gb(found.seed.weight_bytes), _ratio(found))
        yield f"| {name} | {' | '.join(cells)} | {_reasons(found)} |\n"


def _executed() -> Iterator[str]:
    known = {}
    for file in ("decode-reads.json.xz", "more-reads.json.xz"):
        known |= json.loads(lzma.decompress((DATA / file).read_bytes()))
    for name, reads in sorted(known.items(), key=lambda entry: entry[0].lower()):
        tensors = {tensor: (DTYPES[dtype], shape) for tensor, (dtype, shape, *_) in reads["tensors"].items()}
        found = count(checkpoint(tensors, reads["config"]))
        executed = reads["bytes_per_token"]
        cells = (
            f"{executed:,.0f}",
            f"{found.weight_bytes:,}",
            f"{found.weight_bytes / executed:.4f}",
            _ratio(found),
        )
        yield f"| {name} | {' | '.join(cells)} | {_reasons(found)} |\n"


def _gb(size: int) -> str:
    return f"{size / 1e9:,.3f}"


def _ratio(found: Count) -> str:
    return f"{found.seed.weight_bytes / found.weight_bytes:.2f}"


def _reasons(found: Count) -> str:
    return "; ".join(against_seed_in_words(found)) or "they agree"


def main(arguments: list[str]) -> int:
    """Write the page, or with --check compare it."""
    written = page()
    if "--check" in arguments:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != written)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(written, encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(written.splitlines())} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
