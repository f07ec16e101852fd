import json
from datetime import UTC, datetime

import pytest

from tests.ledger.builders import a_record
from workbench.errors import LedgerError, UsageError
from workbench.ledger import merge as merging
from workbench.ledger.corrections import discarded, find
from workbench.ledger.discard import discard
from workbench.ledger.merge import merge
from workbench.ledger.query import parse_query, select
from workbench.ledger.record import Record
from workbench.ledger.store import append, read
from workbench.ledger.table import cells, load
from workbench.ledger.verify import verify

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    return tmp_path / "ledger.jsonl"


def a_run(number=1, **fields):
    given = {
        "generation_tps": 95.1,
        "predicted_tps_human": 90.0,
        "predicted_at": "2026-09-15T10:00:00+00:00",
        "loaded_at": "2026-09-15T10:00:01.5+00:00",
        **fields,
    }
    return a_record(number, **given)


def test_discarding_appends_a_record_with_its_reason_and_changes_nothing(ledger):
    first = append(ledger, a_run())
    before = ledger.read_bytes()
    made = discard(ledger, first.record_id, "every byte on disk was counted", NOW)
    assert ledger.read_bytes().startswith(before)
    assert (made.status, made.discards) == ("discarding", first.record_id)
    assert made.date == "2026-11-29T12:00:00+00:00"
    assert discarded(read(ledger).records) == {first.record_id: "every byte on disk was counted"}


def test_a_discarded_row_stays_in_the_table_and_says_so(ledger):
    first = append(ledger, a_run())
    append(ledger, a_run(2))
    discard(ledger, first.record_id, "wrong count")
    table = load(ledger)
    assert [cells(row, table.discarded)[-1] for row in select(table, parse_query(""))] == [
        "discarded",
        "measured",
    ]
    assert [row.record_id for row in select(table, parse_query("discarded:no"))] == [a_run(2).record_id]
    assert len(select(table, parse_query("status:discarded"))) == 1


def test_a_discard_that_is_discarded_brings_the_record_back(ledger):
    first = append(ledger, a_run())
    wrong = discard(ledger, first.record_id, "a slip")
    discard(ledger, wrong.record_id, "the run was right after all")
    assert first.record_id not in load(ledger).discarded
    third = discard(ledger, first.record_id, "no, it was wrong")
    assert load(ledger).discarded[first.record_id] == "no, it was wrong"
    assert third.discards == first.record_id


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_nothing_is_discarded_without_a_reason(ledger, reason):
    append(ledger, a_run())
    before = ledger.read_bytes()
    with pytest.raises(UsageError, match="with a reason"):
        discard(ledger, "latest", reason)
    assert ledger.read_bytes() == before


def test_a_record_is_discarded_once(ledger):
    append(ledger, a_run())
    discard(ledger, "latest", "wrong count")
    with pytest.raises(LedgerError, match="discarded already: wrong count"):
        discard(ledger, a_run().record_id, "again")


def test_a_record_is_found_by_the_beginning_of_its_id(ledger):
    records = [a_record(1, record_id="abcd-1"), a_record(2, record_id="abce-2")]
    assert find(records, "abcd").record_id == "abcd-1"
    assert find(records, "latest").record_id == "abce-2"
    for wanted, why in [("abc", "2 records"), ("zzzz", "No record"), ("abcd-1x", "No record")]:
        with pytest.raises(LedgerError, match=why):
            find(records, wanted)
    with pytest.raises(LedgerError, match="too short"):
        find(records[:1], "abc")
    with pytest.raises(LedgerError, match="no record yet"):
        find([], "latest")


# --- verify ---


def problems(ledger):
    return [(problem.line, problem.code) for problem in verify(ledger).problems]


def test_a_sound_ledger_has_no_problem(ledger):
    first = append(ledger, a_run())
    append(ledger, a_run(2, status="cancelled", generation_tps=None))
    append(ledger, a_record(3, experiment="bandwidth", achieved_gbps=638.0))
    discard(ledger, first.record_id, "wrong count")
    result = verify(ledger)
    assert result.is_sound
    assert result.records == 4


def test_a_changed_figure_breaks_the_seal(ledger):
    append(ledger, a_run())
    ledger.write_bytes(ledger.read_bytes().replace(b"95.1", b"195.1"))
    assert problems(ledger) == [(1, "seal")]


def test_an_unknown_field_is_under_the_seal_too(ledger):
    append(ledger, a_run())
    fields = json.loads(ledger.read_bytes())
    ledger.write_bytes(json.dumps({**fields, "moon_phase": "full"}).encode() + b"\n")
    assert problems(ledger) == [(1, "seal")]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"predicted_at": "2026-09-15T10:00:02Z"}, "late_prediction"),
        ({"predicted_at": "2026-09-15T10:00:01.5Z"}, "late_prediction"),
        ({"predicted_tps_human": None}, "no_prediction"),
        ({"loaded_at": None}, "no_order"),
        ({"predicted_at": "this morning"}, "no_order"),
        ({"generation_tps": None}, "no_rate"),
        ({"generation_tps": 0.0}, "rate"),
        ({"status": "guessed"}, "status"),
        ({"experiment": "poetry"}, "experiment"),
        ({"date": "yesterday"}, "date"),
        ({"schema_version": 9}, "newer_schema"),
        ({"status": "discarding"}, "discards_nothing"),
        ({"status": "discarding", "discards": "nobody", "reason": "x"}, "discards_unknown"),
    ],
)
def test_what_breaks_the_protocol_is_named(ledger, fields, code):
    append(ledger, a_run(**fields))
    assert problems(ledger) == [(1, code)]


def test_a_lock_changed_after_the_load_is_named(ledger):
    from workbench.ledger.parts import LockedPrediction

    append(ledger, a_run(locks=[LockedPrediction("2026-09-15T10:00:09Z", 95.0)]))
    assert problems(ledger) == [(1, "late_prediction")]


def test_duplicates_and_damage_are_named_with_their_lines(ledger):
    append(ledger, a_run())
    with ledger.open("ab") as stream:
        stream.write(b"oops\n")
    append(ledger, a_run())
    assert problems(ledger) == [(2, "damaged"), (3, "duplicate")]


def test_an_unsealed_line_is_named(ledger):
    append(ledger, a_run())
    fields = json.loads(ledger.read_bytes())
    ledger.write_bytes(json.dumps({**fields, "sha256": None}).encode() + b"\n")
    assert problems(ledger) == [(1, "unsealed")]


# --- merge ---


def test_a_merge_takes_what_is_new_as_it_is(ledger, tmp_path):
    append(ledger, a_run(1))
    other = tmp_path / "music.jsonl"
    append(other, a_run(1))
    append(other, a_run(2, alias="music"))
    with other.open("ab") as stream:
        stream.write(b'{"torn\n' + json.dumps({"record_id": "newer", "run_group_id": "g"}).encode() + b"\n")
    lines = other.read_bytes().splitlines()
    result = merge(ledger, other)
    assert (result.added, result.known) == (1, 1)
    assert [number for number, _ in result.damaged] == [3, 4]
    assert ledger.read_bytes().splitlines()[1] == lines[1]
    assert merge(ledger, other).added == 0


def test_fields_of_a_newer_program_survive_a_merge(ledger, tmp_path):
    other = tmp_path / "newer.jsonl"
    append(other, a_run(5))
    fields = {**json.loads(other.read_bytes()), "moon_phase": "full", "schema_version": 2}
    other.write_text(json.dumps(fields) + "\n")
    merge(ledger, other)
    assert json.loads(ledger.read_bytes())["moon_phase"] == "full"


def test_one_id_with_two_contents_keeps_ours_and_says_so(ledger, tmp_path):
    append(ledger, a_run(1))
    other = tmp_path / "other.jsonl"
    append(other, a_run(1, generation_tps=300.0))
    result = merge(ledger, other)
    assert result.conflicting == (a_run(1).record_id,)
    assert [record.generation_tps for record in read(ledger).records] == [95.1]


def test_a_rescued_record_comes_home_by_a_merge(ledger, tmp_path):
    rescued = tmp_path / "rescued-record-1.jsonl"
    append(rescued, a_run(7))
    assert merge(ledger, rescued).added == 1
    assert verify(ledger).is_sound


def test_a_ledger_is_not_merged_with_itself_or_with_nothing(ledger, tmp_path):
    append(ledger, a_run())
    link = tmp_path / "link.jsonl"
    link.symlink_to(ledger)
    with pytest.raises(LedgerError, match="itself"):
        merge(ledger, link)
    with pytest.raises(LedgerError, match="no ledger"):
        merge(ledger, tmp_path / "none.jsonl")


def test_what_another_program_adds_during_a_merge_is_not_added_twice(ledger, tmp_path, monkeypatch):
    append(ledger, a_run(1))
    other = tmp_path / "music.jsonl"
    for number in (1, 2, 3):
        append(other, a_run(number))
    sizes = []

    def size_then_growth(path):
        sizes.append(path.stat().st_size)
        if len(sizes) == 1:
            append(ledger, a_run(2))  # the other program's merge of the same file, begun a moment before
        return sizes[-1]

    monkeypatch.setattr(merging, "_size", size_then_growth)
    result = merge(ledger, other)
    assert (len(sizes), result.added, result.known) == (2, 1, 2)
    assert [record.record_id[-1] for record in read(ledger).records] == ["1", "2", "3"]
    monkeypatch.setattr(merging, "_size", lambda path: path.stat().st_size - 1)
    append(other, a_run(4))
    before = ledger.read_bytes()
    with pytest.raises(LedgerError, match="keep appending"):
        merge(ledger, other)
    assert ledger.read_bytes() == before


@pytest.mark.parametrize(
    "links", [[("a", "a")], [("a", "b"), ("b", "a")], [("a", "x"), ("b", "a"), ("c", "b")]]
)
def test_corrections_in_a_circle_or_a_chain_come_to_an_end(links):
    records = [
        Record(
            record_id=one,
            run_group_id="g",
            experiment="single",
            status="discarding",
            discards=other,
            reason="r",
        )
        for one, other in links
    ]
    found = discarded(records)
    assert set(found) <= {other for _, other in links}
    if len(links) == 3:
        assert set(found) == {"b", "x"}  # c takes b back, so that a's own correction stands
