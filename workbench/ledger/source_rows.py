"""The source documents' records: one JSON object a line, read as imported rows.

They keep their figures as they were given: no rate is converted from one rule to another.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import msgspec

from workbench.errors import LedgerError
from workbench.ledger.external import LARGEST_BYTES
from workbench.ledger.imported import Imported
from workbench.ledger.lines import lines_of
from workbench.ledger.record import Record
from workbench.locations import shown

MLX_LM_RULE = "N/(t_N - t_1), as mlx-lm prints it"
"""How the source documents' rates count: N/(N-1) above ours."""
LARGEST_TPS = 1e9
"""No memory allows a higher ceiling."""


def import_source_rows(path: Path) -> Imported:
    """The source documents' records: one JSON object a line, as their measuring program writes them.

    The same line imported twice has the same record id. Raises `LedgerError` when there is no such file.
    """
    if not path.exists():
        raise LedgerError(f"There is no file {shown(path)}.", "Check the path.", code="import_missing")
    records: list[Record] = []
    refused: list[tuple[int, str]] = []
    for line in lines_of(path):
        if line.raw is not None and not line.raw.strip():
            continue
        try:
            fields = msgspec.json.decode(line.raw or b"")
            records.append(_source_record(fields, line.raw or b""))
        except msgspec.ValidationError as error:
            refused.append((line.number, f"a field does not fit: {error}"))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            refused.append((line.number, "the line is no JSON"))
        except LedgerError as error:
            refused.append((line.number, error.message))
    return Imported(tuple(records), tuple(refused))


def _source_record(fields: Any, raw: bytes) -> Record:
    if not isinstance(fields, Mapping):
        raise LedgerError("the line is no JSON object")
    if not isinstance(fields.get("model"), str):
        raise LedgerError("the line names no model")
    if "record_id" in fields:
        raise LedgerError("the line is a record of this program: merge the ledger instead")
    identity = str(uuid5(NAMESPACE_URL, f"source-row:{raw.decode()}"))
    known = {name: value for name, value in fields.items() if name in Record.__struct_fields__}
    known |= _renamed(fields)
    quantization = known.pop("quantization", None)
    experiment = str(known.get("experiment"))
    return msgspec.convert(
        {
            **known,
            "record_id": identity,
            "run_group_id": identity,
            "experiment": experiment if experiment in {"single", "ladder", "energy"} else "external",
            "status": "imported",
            "reason": "Imported from the source documents' records: not measured here.",
            "schema_version": 1,
            "sha256": None,
            "rule": known.get("rule") or "count",
            "quantization": _quantization(quantization),
            "decode_rule": known.get("decode_rule") or MLX_LM_RULE,
            "generation_tps_mlx_lm": known.get("generation_tps"),
            "bandwidth_gbps": known.get("bandwidth_gbps") or _bandwidth(known),
            "bandwidth_kind": known.get("bandwidth_kind") or ("stated" if _bandwidth(known) else None),
            "energy_unavailable_reason": "Not part of the imported row.",
        },
        Record,
        strict=False,
    )


def _renamed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Names that programs of that time gave to figures whose name differs here."""
    pairs = {
        "peak_memory": "peak_memory_gb",
        "prompt_tps": "prompt_tps",
        "ttft": "ttft_s",
        "decode_tps": "generation_tps",
    }
    return {ours: fields[theirs] for theirs, ours in pairs.items() if theirs in fields and ours not in fields}


def _quantization(given: Any) -> dict[str, Any] | None:
    if isinstance(given, int | float) and not isinstance(given, bool):
        return {"bits": given}
    if isinstance(given, Mapping):
        return {name: given[name] for name in ("bits", "group_size", "mode") if name in given}
    return None


def _bandwidth(fields: Mapping[str, Any]) -> float | None:
    """The GB/s that the row's own prediction and bytes imply, rounded as a figure would be stated."""
    tps, nbytes = fields.get("predicted_decode_tps"), fields.get("weight_bytes_per_token")
    if not isinstance(tps, int | float) or not isinstance(nbytes, int | float):
        return None
    if not 0 < tps < LARGEST_TPS or not 0 < nbytes < LARGEST_BYTES:
        return None
    return float(round(tps * nbytes / 1e9))
