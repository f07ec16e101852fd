"""Records for the tests of this room."""

from workbench.ledger.record import Record


def a_record(number: int = 1, **fields) -> Record:
    given = {
        "record_id": f"00000000-0000-4000-8000-{number:012d}",
        "run_group_id": f"10000000-0000-4000-8000-{number:012d}",
        "experiment": "single",
        "status": "measured",
        "alias": "office",
        "device": "Apple M3 Ultra",
        "model": "Qwen3.5-9B-4bit",
        "date": "2026-09-15T10:00:00Z",
        **fields,
    }
    return Record(**given)
