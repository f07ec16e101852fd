"""How the shipped example was made of the published figures: `python -m tests.analysis.office_example`."""

import msgspec
from msgspec.structs import replace

from tests.analysis.office import BYTES, SPEC, office_record
from workbench.analysis.token_times import differences, even
from workbench.analysis.verdict import judged
from workbench.ledger.example import OFFICE_RUN_1
from workbench.ledger.parts import NamedCeiling
from workbench.ledger.record import Record, sealed
from workbench.prediction.ceiling import ceilings

EVEN_TIMES_RULE = "N/(t_N - t_1), as published; the token times here were synthesized evenly from that rate"
MIXTURE = "Qwen3.5-35B-A3B-4bit"
RUN_1_ID = "4f66f1ce-0915-4c1e-8a5e-000000000001"
DISCARD_ID = "4f66f1ce-0915-4c1e-8a5e-000000000002"
CORRECTED_ID = "4f66f1ce-0915-4c1e-8a5e-000000000003"


def example() -> list[Record]:
    run_1 = _run(RUN_1_ID, 88.99, "all-bytes")
    discard = Record(
        record_id=DISCARD_ID,
        run_group_id=RUN_1_ID,
        experiment="ladder",
        status="discarding",
        discards=RUN_1_ID,
        reason="Every byte on disk was counted as read per token; the mixture reads 8 of 256 experts.",
        alias="office",
        device="Apple M3 Ultra",
        model=MIXTURE,
        date="2026-09-15T12:00:00Z",
    )
    return [sealed(record) for record in (run_1, discard, _run(CORRECTED_ID, 89.1, "count"))]


def _run(record_id: str, tps: float, rule: str) -> Record:
    steps = differences(even(tps, 200))
    total, per_token = BYTES[MIXTURE][0], BYTES[MIXTURE][7]
    by_rule = {"all-bytes": total, "count": per_token} if rule == "all-bytes" else {"count": per_token}
    record = office_record(
        MIXTURE,
        tps,
        rule=rule,
        figures=(SPEC,),
        ceilings=[NamedCeiling(one.name, one.gbps, one.tps) for one in ceilings([SPEC], by_rule)],
        in_force="count",
        weight_bytes_per_token_without_overrides=per_token,
        record_id=record_id,
        run_group_id=record_id,
        status="imported",
        reason="From the source documents: not measured here.",
        measured_by="the source documents",
        scope="Decode phase, batch 1, 200 greedy tokens after about 209, on office: published figures.",
        mlx="0.32.2",
        bandwidth_source="Apple, M3 Ultra",
        prompt_tokens=209,
        max_tokens=200,
        warmup_tokens=8,
        repeats=1,
        sampler="greedy",
        batch=1,
        generation_tokens=200,
        generation_tps_mlx_lm=tps,
        decode_rule=EVEN_TIMES_RULE,
        repeats_tps=[tps],
        token_times_ns=[steps],
        energy_unavailable_reason="Not published.",
    )
    return judged(replace(record, date="2026-09-15T12:00:00Z"))


if __name__ == "__main__":
    OFFICE_RUN_1.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in example()))
