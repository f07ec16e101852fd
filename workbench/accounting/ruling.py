"""Which figure the ceiling uses: the count, the seed rule, the whole file, or all bytes on purpose."""

from enum import StrEnum

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint


class Ruling(StrEnum):
    """The rules that a user can choose; every ceiling and record says which one it used."""

    COUNT = "count"
    SEED = "seed"
    WHOLE_FILE = "whole-file"
    ALL_BYTES = "all-bytes"


def weight_bytes_by_rule(
    rule: str, checkpoint: Checkpoint, count: Count, graph_bytes: int | None = None
) -> int:
    """Bytes per token by `rule`.

    `count`: the rule engine's figure, or with `graph_bytes` the graph's where no override is in force.
    `seed`: the four rules of "The Decode Ceiling". `whole-file`: every byte of the counted files, headers
    included ("Bandwidth Ledger"). `all-bytes`: every counted tensor in full, run 1's mistake made on purpose.
    Raises ValueError for another word.
    """
    match Ruling(rule):
        case Ruling.SEED:
            return count.seed.weight_bytes
        case Ruling.WHOLE_FILE:
            return sum(file.bytes for file in checkpoint.files)
        case Ruling.ALL_BYTES:
            return checkpoint.disk_bytes
        case Ruling.COUNT:
            return count.weight_bytes if graph_bytes is None or count.is_overridden else graph_bytes
