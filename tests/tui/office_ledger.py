"""A small ledger of the source documents' rows, with people's numbers, a discarded run and a damaged line."""

from tests.analysis.office import BYTES, SPEC, office_record
from workbench.analysis.verdict import judged
from workbench.ledger.discard import discard
from workbench.ledger.parts import NamedPrediction
from workbench.ledger.record import Record
from workbench.ledger.store import append

DENSE = "Qwen3.5-9B-4bit"
MIXTURE = "Qwen3.5-35B-A3B-4bit"


def record_id(number):
    return f"{number:08x}-0000-4000-8000-000000000000"


def office(number, model, tps=None, **fields):
    """One judged run of a model on office, with three people's numbers."""
    people = [NamedPrediction("ana", 60.0 + 20 * number), NamedPrediction("bo", 400.0 / number)]
    given = {
        "record_id": record_id(number),
        "experiment": "single",
        "date": f"2026-09-{10 + number:02d}T12:00:00Z",
        "figures": (SPEC,),
        "bandwidth_source": "Apple, M3 Ultra",
        "mlx": "0.32.2",
        "mlx_lm": "0.31.0",
        "os": "Darwin",
        "macos": "26.0",
        "prompt_tokens": 209,
        "max_tokens": 200,
        "repeats": 1,
        "predictions": [*people, NamedPrediction("chi", 95.0)],
        "predicted_tps_human": people[0].tps,
        "predicted_by": "ana",
        "predicted_at": f"2026-09-{10 + number:02d}T11:59:50.100+00:00",
        "loaded_at": f"2026-09-{10 + number:02d}T11:59:51.200+00:00",
        "energy_unavailable_reason": "No energy pass was asked for.",
    }
    return judged(office_record(model, tps, **(given | fields)))


def fill(path, *, damaged=True):
    """Six runs, run 1 of the mixture with every byte counted, its correction, a cancelled run."""
    for number, model in enumerate(BYTES, 1):
        append(path, office(number, model))
    nobody = {"predictions": [], "predicted_tps_human": None, "predicted_by": None, "predicted_at": None}
    append(path, office(9, MIXTURE, 88.99, rule="all-bytes", **nobody))
    if damaged:
        with path.open("ab") as stream:
            stream.write(b'{"record_id": "torn", "sta\n')
    discard(path, record_id(9)[:8], "Every byte on disk was counted; the mixture reads 8 of 256 experts.")
    append(
        path,
        Record(
            record_id=record_id(10),
            run_group_id=record_id(10),
            experiment="single",
            status="cancelled",
            reason="Cancelled by the user.",
            alias="office",
            device="Apple M3 Ultra",
            model=DENSE,
            date="2026-10-01T10:00:00Z",
        ),
    )
    return path
