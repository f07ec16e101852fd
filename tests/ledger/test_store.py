import errno
import fcntl
import json
import os
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.ledger.builders import a_record
from workbench.errors import LedgerError
from workbench.ledger import lines, store
from workbench.ledger.record import digest_of_fields
from workbench.ledger.store import UnwrittenRecordError, append, append_line, read, read_at


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "data" / "ledger.jsonl"


def test_a_ledger_that_does_not_exist_yet_is_empty(ledger):
    assert read(ledger) == store.Reading([], [])


def test_an_appended_record_comes_back_as_it_was_written(ledger):
    written = append(ledger, a_record(generation_tps=95.1))
    assert written.sha256
    assert read(ledger).records == [written]


def test_the_seal_covers_the_line_as_it_lies_in_the_file(ledger):
    append(ledger, a_record(bandwidth_gbps=819))
    fields = json.loads(ledger.read_bytes())
    assert digest_of_fields(fields) == fields["sha256"]
    assert digest_of_fields({**fields, "bandwidth_gbps": 820}) != fields["sha256"]


def test_each_record_is_one_line_of_utf8_json(ledger):
    append(ledger, a_record(1, alias="büro\n", model="line\u2028separator"))
    append(ledger, a_record(2))
    assert [json.loads(line)["alias"] for line in ledger.read_bytes().split(b"\n") if line] == [
        "büro\n",
        "office",
    ]


def test_the_ledger_is_private_to_its_user(ledger):
    append(ledger, a_record())
    assert ledger.stat().st_mode & 0o777 == 0o600


def test_the_line_leaves_in_one_write_and_is_synced(ledger, monkeypatch):
    writes, synced = [], []
    real_write, real_sync = os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda fd, data: writes.append(data) or real_write(fd, data))
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(fd) or real_sync(fd))
    append(ledger, a_record())
    assert len(writes) == 1
    assert writes[0].endswith(b"}\n")
    assert len(synced) == 2  # the file, and the folder that got a new name
    append(ledger, a_record(2))
    assert len(synced) == 3


WRITER = textwrap.dedent("""
    import sys
    from pathlib import Path
    from tests.ledger.builders import a_record
    from workbench.ledger.store import append
    start = int(sys.argv[2])
    print("ready", flush=True)
    sys.stdin.read(1)
    for number in range(start, start + 1000):
        append(Path(sys.argv[1]), a_record(number, token_times_ns=[[number] * (number % 400)]))
""")


def test_two_writers_of_a_thousand_records_each_tear_no_line(ledger):
    repository = Path(__file__).parents[2]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(ledger), str(start)],
            cwd=repository,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for start in (0, 5000)
    ]
    for writer in writers:
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        writer.stdin.write(b"g")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    reading = read(ledger)
    assert reading.damaged == []
    numbers = [int(record.record_id[-12:]) for record in reading.records]
    assert sorted(numbers) == [*range(1000), *range(5000, 6000)]


def test_a_torn_line_stays_as_it_is_and_the_next_record_begins_below_it(ledger):
    append(ledger, a_record(1))
    whole = ledger.read_bytes()
    ledger.write_bytes(whole + whole[:100])
    assert read(ledger).damaged == [
        (2, "the line is torn: it ends without a newline in the middle of a record")
    ]
    append(ledger, a_record(2))
    assert ledger.read_bytes().startswith(whole + whole[:100] + b"\n{")
    reading = read(ledger)
    assert [record.record_id[-1] for record in reading.records] == ["1", "2"]
    assert [number for number, _ in reading.damaged] == [2]


def test_a_last_line_that_only_lacks_its_newline_is_a_record(ledger):
    append(ledger, a_record(1))
    ledger.write_bytes(ledger.read_bytes().rstrip(b"\n"))
    assert len(read(ledger).records) == 1
    append(ledger, a_record(2))
    assert len(read(ledger).records) == 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"record_id": "\xff\xfe"}', "UTF-8"),
        (b"not json", "no JSON"),
        (b"\0" * 512, "zero bytes"),
        (b"[" * 200_000, "JSON"),
        (b'{"record_id": "a"}', "no record: Object missing required field"),
        (b"42", "no record: Expected `object`, got `int`"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b"x" * 10_000_000, "no JSON"),
    ],
    ids=["utf8", "words", "zeros", "open", "fields", "number", "nested", "ten-megabytes"],
)
def test_a_damaged_line_is_reported_with_its_number_and_costs_nothing_else(ledger, line, why):
    append(ledger, a_record(1))
    with ledger.open("ab") as stream:
        stream.write(line + b"\n")
    append(ledger, a_record(2))
    before = ledger.read_bytes()
    reading = read(ledger)
    assert [record.record_id[-1] for record in reading.records] == ["1", "2"]
    [(number, reason)] = reading.damaged
    assert number == 2
    assert why in reason
    assert len(reason) < 300
    assert ledger.read_bytes() == before


def test_a_record_of_ten_megabytes_is_a_record(ledger):
    append(ledger, a_record(1, reason="x" * 10_000_000))
    append(ledger, a_record(2))
    assert [record.record_id[-1] for record in read(ledger).records] == ["1", "2"]


def test_a_line_beyond_the_limit_is_skipped_without_being_held(ledger, monkeypatch):
    append(ledger, a_record(1))
    with ledger.open("ab") as stream:
        stream.write(b"y" * 50_000 + b"\n")
    append(ledger, a_record(2))
    monkeypatch.setattr(lines, "LONGEST_LINE_BYTES", 8_000)
    reading = read(ledger)
    assert [record.record_id[-1] for record in reading.records] == ["1", "2"]
    assert reading.damaged == [(2, "the line is too long to be a record")]


def test_blank_lines_are_nobodys_business(ledger):
    append(ledger, a_record(1))
    ledger.write_bytes(b"\n  \n" + ledger.read_bytes() + b"\n")
    assert len(read(ledger).records) == 1
    assert read(ledger).damaged == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(garbage=st.binary(max_size=400))
def test_no_bytes_in_the_file_make_reading_fail_or_hide_a_record(ledger, garbage):
    ledger.unlink(missing_ok=True)
    ledger.parent.mkdir(parents=True, exist_ok=True)
    ledger.write_bytes(garbage)
    append(ledger, a_record(7))
    assert read(ledger).records[-1].record_id.endswith("7")
    assert ledger.read_bytes().startswith(garbage)


def test_fields_that_this_version_does_not_know_are_ignored(ledger):
    fields = json.loads(msgspec.json.encode(a_record(1)))
    append_line(ledger, json.dumps({**fields, "moon_phase": "full"}).encode())
    assert read(ledger).records == [a_record(1)]


def test_a_newer_schema_is_read_as_far_as_it_is_known(ledger):
    fields = json.loads(msgspec.json.encode(a_record(1, generation_tps=95.1)))
    newer = {**fields, "schema_version": 9, "quantization": ["mixed", 4.5], "hosts": {"n": 2}}
    append_line(ledger, json.dumps(newer).encode())
    [record] = read(ledger).records
    assert record.schema_version == 9
    assert record.generation_tps == 95.1
    assert record.quantization is None


def test_the_same_liberty_is_not_taken_with_this_schema(ledger):
    fields = json.loads(msgspec.json.encode(a_record(1)))
    append_line(ledger, json.dumps({**fields, "hosts": {"n": 2}}).encode())
    assert read(ledger).records == []
    assert "hosts" in read(ledger).damaged[0][1]


def test_a_record_is_read_again_at_its_place(ledger):
    append(ledger, a_record(1))
    offset = ledger.stat().st_size
    second = append(ledger, a_record(2))
    assert read_at(ledger, offset) == second


def test_token_times_can_be_left_where_they_are(ledger):
    append(ledger, a_record(1, token_times_ns=[[5, 6]], generation_tps=95.1))
    [record] = read(ledger, token_times=False).records
    assert (record.token_times_ns, record.generation_tps) == (None, 95.1)


# --- when the ledger does not take the record ---


def rescued(error: UnwrittenRecordError):
    return read(error.rescued_to).records


def test_a_full_disk_leaves_no_torn_line_and_the_record_in_a_file_it_names(ledger):
    append(ledger, a_record(1))
    before = ledger.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # the kernel takes a part of the line and refuses the rest, as a full disk does
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 500, hard))
    try:
        with pytest.raises(UnwrittenRecordError, match="the disk is full") as caught:
            append(ledger, a_record(2, reason="x" * len(before)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert ledger.read_bytes() == before
    assert caught.value.rescued_to is None  # nothing on this disk takes the record: it is in the error
    assert msgspec.json.decode(caught.value.line)["record_id"].endswith("2")
    assert "still in memory" in caught.value.hint
    assert list(ledger.parent.iterdir()) == [ledger]


@pytest.mark.parametrize("taker", ["/dev/full", "/dev/null", "a FIFO"])
def test_what_is_no_file_keeps_no_record_and_the_rescue_file_is_named(ledger, tmp_path, taker):
    place = tmp_path / "ledger.jsonl"
    if taker == "a FIFO":
        os.mkfifo(place)
    else:
        place.symlink_to(taker)
    with pytest.raises(UnwrittenRecordError, match="it is not a regular file") as caught:
        append(place, a_record(3))
    assert [record.record_id[-1] for record in rescued(caught.value)] == ["3"]
    assert f"workbench ledger merge {caught.value.rescued_to}" in caught.value.hint
    assert caught.value.rescued_to.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("number", "why"),
    [(errno.EROFS, "read-only"), (errno.EACCES, "not permitted"), (errno.EIO, "input/output error")],
)
def test_a_ledger_that_may_not_be_written_costs_no_record(ledger, monkeypatch, number, why):
    append(ledger, a_record(1))
    real_open = os.open

    def refusing(path, *args, **named):
        if Path(path) == ledger:
            raise OSError(number, os.strerror(number))
        return real_open(path, *args, **named)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(LedgerError, match=why) as caught:
        append(ledger, a_record(2))
    assert [record.record_id[-1] for record in rescued(caught.value)] == ["2"]


def test_a_folder_in_the_ledgers_place_costs_no_record(ledger):
    ledger.mkdir(parents=True)
    with pytest.raises(UnwrittenRecordError, match="it is a folder") as caught:
        append(ledger, a_record(1))
    assert len(rescued(caught.value)) == 1
    with pytest.raises(LedgerError, match="not a regular file"):
        read(ledger)


def test_a_lock_that_is_never_given_back_does_not_hang_the_writer(ledger, monkeypatch):
    append(ledger, a_record(1))
    monkeypatch.setattr(store, "LOCK_WAIT_S", 0.05)
    with ledger.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UnwrittenRecordError, match="held its lock") as caught:
            append(ledger, a_record(2))
    assert len(rescued(caught.value)) == 1
    append(ledger, a_record(3))
    assert len(read(ledger).records) == 2


def test_a_ledger_that_may_not_be_read_says_so(ledger, monkeypatch):
    append(ledger, a_record(1))

    def refusing(self, *args, **named):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refusing)
    with pytest.raises(LedgerError, match="permission denied") as caught:
        read(ledger)
    assert caught.value.code == "ledger_unreadable"
