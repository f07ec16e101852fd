import json

import pytest
from msgspec.structs import replace

from tests.analysis.office import office_record
from tests.ledger.builders import a_record
from workbench.analysis.verdict import judged
from workbench.errors import LedgerError, UsageError
from workbench.ledger import table
from workbench.ledger.query import Query, parse_query, select
from workbench.ledger.record import Record
from workbench.ledger.row import Row
from workbench.ledger.store import append, append_line
from workbench.ledger.table import HEADERS, cells, load, record_of, row_of


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    path = tmp_path / "ledger.jsonl"
    append(path, a_record(1, date="2026-08-31T23:59:00Z", generation_tps=91.0, verdict="ok"))
    append(path, judged(office_record("Qwen3.5-35B-A3B-4bit", 88.99, rule="all-bytes", record_id="run-1")))
    append(path, a_record(3, alias=None, device="Apple M3", date="2026-10-02T08:00:00Z", status="cancelled"))
    return path


@pytest.fixture
def long_ledger(ledger, monkeypatch):
    """Every ledger counts as long enough to keep its rows; returns what was read line by line."""
    monkeypatch.setattr(table, "WORTH_KEEPING_BYTES", 0)
    read_lines = []
    real_lines = table.lines_of

    def counted(*where):
        for line in real_lines(*where):
            read_lines.append(line.number)
            yield line

    monkeypatch.setattr(table, "lines_of", counted)
    return read_lines


def ids(loaded, text):
    return [row.record_id for row in select(loaded, parse_query(text))]


def test_a_row_shows_the_pieces_and_the_verdict(ledger):
    row = load(ledger).rows[1]
    assert dict(zip(HEADERS, cells(row), strict=True)) == {
        "date": "2026-09-15 12:00",
        "machine": "office",
        "model": "Qwen3.5-35B-A3B-4bit",
        "bits": "4",
        "GB/token": "20.391",
        "said": "",
        "tok/s": "89.0",
        "of ceiling": "221.6 %",
        "verdict": "counting error",
        "status": "measured",
    }


def test_the_whole_record_is_read_when_it_is_asked_for(ledger):
    row = load(ledger).rows[1]
    record = record_of(ledger, row)
    assert record.record_id == "run-1"
    assert record.excess_explained_by == ["experts counted in full"]
    assert row_of(record, row.offset) == row


def test_a_file_that_was_exchanged_is_noticed(ledger):
    row = load(ledger).rows[2]
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join([lines[0], lines[1], lines[0]]))
    with pytest.raises(LedgerError, match="exchanged"):
        record_of(ledger, row)


def test_a_ledger_that_does_not_exist_is_an_empty_table(tmp_path):
    assert load(tmp_path / "none.jsonl").rows == []


def test_damaged_lines_are_listed_beside_the_rows(ledger):
    with ledger.open("ab") as stream:
        stream.write(b'{"record_id": 5}\n\xff\xfe\n\n{"record_id": "torn')
    table = load(ledger)
    assert len(table.rows) == 3
    assert [number for number, _ in table.damaged] == [4, 5, 7]
    assert "torn" in table.damaged[2][1]


def test_a_line_begins_with_what_its_row_shows_and_the_schema_comes_right_behind():
    shown = [name for name in Row.__struct_fields__ if name != "offset"]
    assert list(Record.__struct_fields__[: len(shown) + 1]) == [*shown, "schema_version"]


def test_a_row_is_the_same_whether_its_line_is_read_in_part_or_whole(ledger):
    rows = load(ledger).rows
    sorted_lines = [json.dumps(json.loads(line), sort_keys=True) for line in ledger.read_bytes().splitlines()]
    ledger.write_text("".join(f"{line}\n" for line in sorted_lines))
    assert [replace(row, offset=0) for row in load(ledger).rows] == [replace(row, offset=0) for row in rows]


def test_a_line_of_another_order_that_lacks_a_rows_field_is_read_as_a_record(ledger):
    fields = json.loads(ledger.read_bytes().splitlines()[0])
    moved = {"record_id": "moved", "schema_version": 1, **{k: v for k, v in fields.items() if k != "alias"}}
    ledger.write_text(json.dumps({**moved, "record_id": "moved"}, separators=(",", ":")) + "\n")
    [row] = load(ledger).rows
    assert (row.record_id, row.alias, row.generation_tps) == ("moved", None, 91.0)


@pytest.mark.parametrize("harm", [b"\0" * 8, b"\xff\xfe\xfd", b""])
def test_damage_behind_a_lines_beginning_is_listed_too(ledger, harm):
    lines = ledger.read_bytes().splitlines(keepends=True)
    at = len(lines[1]) * 2 // 3
    ledger.write_bytes(lines[0] + lines[1][:at] + harm + (lines[1][at + 8 :] if harm else b"\n") + lines[2])
    assert [number for number, _ in load(ledger).damaged] == [2]


def test_a_newer_schema_has_its_row(ledger):
    newer = {**json.loads(ledger.read_bytes().splitlines()[0]), "schema_version": 7, "record_id": "newer"}
    append_line(ledger, json.dumps({**newer, "predicted_tps_human": {"low": 1}}).encode())
    assert load(ledger).rows[-1].record_id == "newer"
    assert load(ledger).rows[-1].generation_tps == 91.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [1, "run-1", 3]),
        ("machine:office", [1, "run-1"]),
        ("machine:M3", [1, "run-1", 3]),
        ("model:35b", ["run-1"]),
        ("verdict:counting", ["run-1"]),
        ('verdict:"counting error"', ["run-1"]),
        ("status:cancelled", [3]),
        ("since:2026-09", ["run-1", 3]),
        ("until:2026-09", [1, "run-1"]),
        ("since:2026-09-15 until:2026-09-15", ["run-1"]),
        ("rule:all-bytes", ["run-1"]),
        ("office 9b", [1]),
        ("nothing-like-it", []),
    ],
)
def test_filters_find_rows_by_key_and_by_word(ledger, text, found):
    wanted = [a_record(one).record_id if isinstance(one, int) else one for one in found]
    assert ids(load(ledger), text) == wanted


@pytest.mark.parametrize("text", ["colour:red", "since:yesterday", "discarded:maybe"])
def test_a_filter_that_there_is_not_is_said(text):
    with pytest.raises(UsageError):
        parse_query(text)


def test_an_empty_query_matches_everything():
    assert parse_query("  ") == Query()


# --- rows that are kept ---


def shown(found):
    return [cells(row, found.discarded) for row in found.rows], list(found.damaged)


def test_rows_that_were_read_once_are_not_read_again(ledger, long_ledger, tmp_path):
    with ledger.open("ab") as stream:
        stream.write(b"oops\n")
    first = load(ledger)
    assert long_ledger == [1, 2, 3, 4]
    append(ledger, a_record(9))
    long_ledger.clear()
    second = load(ledger)
    assert long_ledger == [5]
    assert shown(second)[0][:3] == shown(first)[0]
    assert second.damaged == first.damaged == [(4, first.damaged[0][1])]
    assert [row.offset for row in second.rows][:3] == [row.offset for row in first.rows]
    assert record_of(ledger, second.rows[1]).record_id == "run-1"
    assert [place.parent.name for place in tmp_path.rglob("rows-*.msgpack")] == ["ledger-rows"]


def test_a_torn_last_line_is_read_again_and_counted_once(ledger, long_ledger):
    whole = ledger.read_bytes()
    ledger.write_bytes(whole + whole[:50])
    assert [number for number, _ in load(ledger).damaged] == [4]
    assert [number for number, _ in load(ledger).damaged] == [4]
    append(ledger, a_record(9))
    found = load(ledger)
    assert len(found.rows) == 4
    assert [number for number, _ in found.damaged] == [4]


@pytest.mark.parametrize("harm", ["exchanged", "shortened", "cut", "garbage", "gone"])
def test_kept_rows_that_do_not_fit_are_not_used(ledger, long_ledger, tmp_path, harm):
    expected = shown(load(ledger))
    [kept] = tmp_path.rglob("rows-*.msgpack")
    lines = ledger.read_bytes().splitlines(keepends=True)
    match harm:
        case "exchanged":
            ledger.write_bytes(b"".join(reversed(lines)))
            expected = expected[0][::-1], expected[1]
        case "shortened":
            ledger.write_bytes(lines[0])
            expected = expected[0][:1], expected[1]
        case "cut":
            kept.write_bytes(kept.read_bytes()[:-20])
        case "garbage":
            kept.write_bytes(b"\xff" * 100)
        case "gone":
            kept.unlink()
    assert shown(load(ledger)) == expected


def test_a_cache_that_cannot_be_written_costs_nothing(ledger, long_ledger, tmp_path):
    folder = tmp_path / "file"
    folder.write_text("not a folder")
    assert len(load(ledger, folder).rows) == 3
