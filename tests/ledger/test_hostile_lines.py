"""Lines of ill will in the file: what fits no field is damage with its number, alike for every reader."""

import json
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile import BOMB, HINTS, NUMBERS, line, misfits, one_field
from tests.tui.office_ledger import fill
from workbench.analysis.calibration import calibrations
from workbench.analysis.fit_groups import fits
from workbench.analysis.reference import ledger_beside
from workbench.analysis.tables import source_tables
from workbench.analysis.verdict import judged
from workbench.errors import LedgerError, UsageError
from workbench.ledger.card import card
from workbench.ledger.export import as_csv, as_markdown
from workbench.ledger.report import report, row
from workbench.ledger.store import read
from workbench.ledger.table import load, record_of
from workbench.ledger.verify import verify
from workbench.protocol.replaying import replay_of


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    return tmp_path / "ledger.jsonl"


def test_a_wrong_type_in_any_field_is_damage_named_by_its_line(ledger):
    wrong = [fields for name in HINTS for fields in misfits(name)]
    assert len(wrong) > 5 * len(HINTS)
    ledger.write_bytes(b"".join(map(line, wrong)))
    reading = read(ledger)
    assert reading.records == []
    assert [number for number, _ in reading.damaged] == list(range(1, len(wrong) + 1))
    found = verify(ledger)
    assert (found.records, {one.code for one in found.problems}) == (0, {"damaged"})
    table = load(ledger)
    for shown in table.rows:  # damaged behind what a list reads: the row is there, the record is not
        with pytest.raises(LedgerError, match="the line is "):
            record_of(ledger, shown)
    assert len(table.rows) + len(table.damaged) == len(wrong)


def test_a_number_in_any_field_stops_no_reader(ledger):
    numbers = count(1)
    records = [
        one_field(name, "a", number) | {"record_id": f"{next(numbers):08x}"}
        for name in HINTS
        for number in NUMBERS
        if name != "record_id"
    ]
    ledger.write_bytes(b"".join(map(line, records)))
    every_one = read(ledger).records
    assert len(every_one) == len(records)
    table = load(ledger)
    assert fits(every_one, {})
    assert calibrations(every_one, {})
    assert source_tables(every_one)
    assert as_csv(every_one).count("\n") == len(records) + 1
    assert as_markdown(table.rows).count("\n") == len(records) + 1
    assert ledger_beside(table.rows, 1, {}, count=10**6) is not None
    for record in every_one:
        assert card(record)
        assert report(record)
        assert row(record)
        assert judged(record).verdict
        try:
            assert replay_of(record).seconds >= 0
        except UsageError as error:
            assert error.hint


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(HINTS)),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
)
def test_whatever_a_field_holds_the_other_records_are_there(ledger, name, value):
    ledger.unlink(missing_ok=True)
    fill(ledger, damaged=False)
    sound = len(read(ledger).records)
    fields = json.loads(line(one_field("alias", "a", 1))) | {"record_id": "ffffffff", name: value}
    try:
        ledger.write_bytes(ledger.read_bytes() + line(fields))
    except UnicodeEncodeError:
        return  # a lone surrogate is no UTF-8
    reading = read(ledger)
    assert len(reading.records) + len(reading.damaged) == sound + 1
    table = load(ledger)
    assert len(table.rows) >= sound
    assert fits(reading.records, table.discarded)
    assert source_tables(reading.records, table.discarded.keys())
    for record in reading.records[sound:]:
        assert card(record)
        assert judged(record).verdict


def test_a_bomb_in_a_field_that_nobody_knows_is_passed_over_or_damage(ledger):
    fields = json.loads(line(one_field("alias", "a", 1)))
    deep = b"[" * 100_000 + b"]" * 100_000
    ledger.write_bytes(
        line(fields | {"moon": BOMB}) + line(fields)[:-2] + b', "moon": ' + deep + b"}\n" + line(fields)
    )
    assert len(read(ledger).records) + len(read(ledger).damaged) == 3
    assert verify(ledger).records >= 2
    assert len(load(ledger).rows) >= 2
