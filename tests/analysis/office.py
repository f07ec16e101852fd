"""The source documents' office rows, with the exact byte counts of those checkpoints' headers.

Rates: "Write the Prediction Before the Number" (one decimal); 2B and 4B: "The Decode Ceiling".
"""

from workbench.ledger.parts import NamedCeiling, Quantization
from workbench.ledger.record import Record
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind, ceilings

SPEC = BandwidthFigure(819, BandwidthKind.SPEC, "Apple")
STREAMED = BandwidthFigure(638, BandwidthKind.ACHIEVED, "a streaming kernel")

# name: (total, vision, embedding, experts, tied, E, k, per token)
BYTES = {
    "Qwen3.5-0.8B-4bit": (625124032, 201185792, 143032320, 0, True, 0, 0, 423938240),
    "Qwen3.5-2B-4bit": (1722149056, 662833152, 286064640, 0, True, 0, 0, 1059315904),
    "Qwen3.5-4B-4bit": (3034147328, 667028480, 357580800, 0, True, 0, 0, 2367118848),
    "Qwen3.5-9B-4bit": (5950062560, 912020960, 572129280, 0, False, 0, 0, 4465912320),
    "Qwen3.5-27B-4bit": (16054266848, 921460192, 715161600, 0, False, 0, 0, 14417645056),
    "Qwen3.5-35B-A3B-4bit": (20391405152, 893142496, 286064640, 18119393280, False, 256, 8, 1659035776),
}
RATES = {
    "Qwen3.5-0.8B-4bit": 338.2,
    "Qwen3.5-2B-4bit": 257.0,
    "Qwen3.5-4B-4bit": 148.0,
    "Qwen3.5-9B-4bit": 95.1,
    "Qwen3.5-27B-4bit": 32.6,
    "Qwen3.5-35B-A3B-4bit": 89.1,
}


def office_record(
    model: str, tps: float | None = None, rule: str = "count", figures=(SPEC, STREAMED), **fields
):
    total, vision, embed, experts, tied, number, k, per_token = BYTES[model]
    in_force = total if rule == "all-bytes" else per_token
    given = {
        "record_id": f"office {model} {rule}",
        "run_group_id": f"office {model}",
        "experiment": "ladder",
        "status": "measured",
        "alias": "office",
        "device": "Apple M3 Ultra",
        "model": model,
        "architecture": "qwen3_5_moe" if number else "qwen3_5",
        "date": "2026-09-15T12:00:00Z",
        "quantization": Quantization(bits=4, group_size=64, mode="affine"),
        "weight_bytes_total": total,
        "weight_bytes_vision": vision,
        "weight_bytes_embed": embed,
        "weight_bytes_experts": experts,
        "tied_embeddings": tied,
        "experts": number,
        "experts_per_token": k,
        "weight_bytes_per_token": in_force,
        "rule": rule,
        "generation_tps": RATES[model] if tps is None else tps,
        "bandwidth_gbps": figures[0].gbps if figures else None,
        "bandwidth_kind": str(figures[0].kind) if figures else None,
        "ceilings": [NamedCeiling(c.name, c.gbps, c.tps) for c in ceilings(figures, {rule: in_force})],
        **fields,
    }
    return Record(**given)
