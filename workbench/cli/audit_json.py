"""`workbench audit --json`: the bytes group, every tensor with its rule, and the witness beside it."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from workbench.accounting.compare import against_seed
from workbench.accounting.count import Count
from workbench.accounting.seedrow import seed_bytes
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.cli.audit_words import CONTEXTS, what_ifs
from workbench.cli.bytes_json import fields as bytes_json
from workbench.ledger.parts import Witness
from workbench.prediction.ceiling import BandwidthFigure, ceiling_tps
from workbench.protocol.witnessing import as_recorded
from workbench.witness.agreement import Agreement
from workbench.witness.result import TensorRead
from workbench.worker.messages import Damaged


def fields(
    checkpoint: Checkpoint,
    count: Count,
    agreements: Sequence[Agreement],
    proof: Sequence[Damaged] | None,
    figure: BandwidthFigure | None,
) -> dict[str, Any]:
    """One object; `witness_bytes_per_token` is null where nothing was witnessed."""
    witnesses = [as_recorded(agreement) for agreement in agreements]
    first = witnesses[0] if witnesses else None
    graph_bytes = agreements[0].bytes_in_force if agreements else None
    reading = agreements[0].reading if agreements else None
    by_graph = {read.name: read for read in reading.reads} if reading else {}
    return {
        **bytes_json(checkpoint, count, figure=figure, graph_bytes=graph_bytes, witness=first),
        "witness_bytes_per_token": first.bytes_per_token if first else None,
        "witness_at_contexts": [
            _witnessed(agreement, witness) for agreement, witness in zip(agreements, witnesses, strict=True)
        ],
        "tensors": [
            {
                "name": row.name,
                "dtype": row.dtype,
                "shape": list(row.shape),
                "bytes": row.disk_bytes,
                "resident_bytes": row.resident_bytes,
                "weight_bytes": row.weight_bytes,
                "lookup_bytes": row.lookup_bytes,
                "seed_bytes": seed_bytes([row], count.seed),
                **_by_graph(by_graph.get(row.name)),
                "role": str(row.role),
                "share": str(row.share),
                "rule": row.rule,
            }
            for row in count.rows
        ],
        "seed_rule_differs": {
            str(one.role): {"bytes": one.difference_bytes, "rules": list(one.rules)}
            for one in against_seed(count)
        },
        "context": [_at(count, tokens, figure) for tokens in CONTEXTS],
        "what_if": [
            {"name": one.name, "step_bytes": one.step_bytes, "bytes_per_token": one.bytes_per_token}
            for one in what_ifs(count)
        ],
        "proof": None if proof is None else [asdict(one) for one in proof],
    }


def _by_graph(read: TensorRead | None) -> dict[str, Any]:
    """The graph's column beside the count's and the seed rule's; null where nothing was witnessed."""
    return {
        "graph_bytes": read.weight_bytes if read else None,
        "graph_kind": read.kind if read else None,
        "graph_reads": read.reads if read else None,
    }


def _witnessed(agreement: Agreement, witness: Witness) -> dict[str, Any]:
    """The record's witness group at one context, with what else the two say there."""
    return {
        **asdict(witness),
        "count_bytes_per_token": agreement.count_bytes,
        "context_read_bytes": agreement.graph_context_bytes,
        "count_context_read_bytes": agreement.count_context_bytes,
        "notes": list(agreement.notes),
    }


def _at(count: Count, tokens: int, figure: BandwidthFigure | None) -> dict[str, Any]:
    added = count.context.at(tokens)
    total = count.weight_bytes + added.total_bytes
    return {
        "tokens": tokens,
        "read_bytes": added.read_bytes,
        "written_bytes": added.written_bytes,
        "stored_bytes": added.stored_bytes,
        "indexer_weight_bytes": added.indexer_weight_bytes,
        "rows": {str(row.kind): row.read_bytes for row in added.rows},
        "ceiling_tps": None if figure is None or not total else ceiling_tps(figure.gbps, total),
    }
