"""`measure`, `demo` and `ladder` with the real worker: records, words, exit codes, signals."""

import json
import signal
import time

import msgspec
import pytest

from tests.cli.processes import begun
from tests.ledger.builders import a_record
from workbench.cli import ladder
from workbench.cli.verdict_words import verdict_lines
from workbench.ledger.record import Record
from workbench.ledger.store import append, read
from workbench.ledger.words import rate
from workbench.power.choice import Choice, LookedFor
from workbench.protocol.lock import PredictionLock

SHORT = ("--tokens", "12", "--repeats", "1", "--no-witness")


@pytest.fixture(autouse=True)
def short_prompts(home):
    home.mkdir(exist_ok=True)
    (home / "settings.toml").write_text('prompt_tokens = 12\nalias = "office"\n')


def records_in(home):
    return read(home / "ledger.jsonl").records


def test_measure_predicts_measures_and_records_and_stdout_is_the_record(run, shelf, home):
    words = (
        "measure",
        "synthetic/tiny-mixture",
        "--predict",
        "500",
        "--by",
        "ana",
        "--bandwidth",
        "25 spec a test",
    )
    said = run(*words, "--tokens", "16", "--repeats", "2", "--json")
    assert said.code == 0
    record = said.json
    assert set(record) == set(Record.__struct_fields__)
    [line] = (home / "ledger.jsonl").read_text().splitlines()
    assert json.loads(line) == record
    assert (record["status"], record["experiment"], record["alias"]) == ("measured", "single", "office")
    assert record["predicted_at"] < record["loaded_at"]
    assert (record["predicted_by"], record["predicted_tps_human"]) == ("ana", 500.0)
    assert record["predicted_decode_tps"] == pytest.approx(25e9 / 607_856)
    assert record["witness"]["status"] == "agrees"
    assert len(record["repeats_tps"]) == 2
    assert record["generation_tps"] > 0
    assert record["blind"] is True  # no terminal: nothing was painted
    assert "No energy pass was asked for." in record["energy_unavailable_reason"]
    told = [line.split(":")[0] for line in said.err.splitlines() if not line.startswith(" ")]
    assert [word for word in told if word != "note"] == [
        *("count", "stamp", "predict", "load", "warm up"),
        *("measure", "measure", "record"),
    ]
    assert run("ledger", "verify").out == "1 records, 0 problems\n"


def test_the_verdict_in_words_names_every_ceiling_and_ranks_a_class(shelf, home):
    words = ("measure", "synthetic/tiny-1", "--predict", "ana=400 bo=900000", "--bandwidth", "25")
    workbench = begun(*words, *SHORT)
    assert workbench.stderr.readline()
    workbench.stderr.close()  # as `2>&1 | head -1` does: words that nobody reads end no run
    lines = workbench.stdout.read().splitlines()
    workbench.stdout.close()
    assert workbench.wait(timeout=60) == 0
    assert records_in(home)[0].status == "measured"
    assert lines[0].startswith("tiny-1 (synthetic weights): ")
    assert lines[1].startswith("  measured  ")
    assert "1.  ana 400.0 tok/s; measured" in lines[2]
    assert "2.  bo 900,000.0 tok/s; measured" in lines[3]
    assert any("of stated 25 GB/s, count (" in line for line in lines)
    assert "  energy      none: No energy pass was asked for." in lines
    assert max(map(len, lines)) <= 110


def test_without_a_prediction_nothing_runs_and_the_exit_code_is_2(run, shelf, home):
    for command in (["measure", "synthetic/tiny-1"], ["demo", "--headless"]):
        said = run(*command)
        assert (said.code, said.out) == (2, "")
        assert "--predict TPS" in said.err
    assert run("measure", "synthetic/tiny-1", "--json").json["error"]["code"] == "no_prediction"
    assert run("measure", "synthetic/tiny-1", "--predict", "fast").code == 2
    assert run("measure", "synthetic/tiny-1", "--predict", "1,5").code == 2
    assert not (home / "ledger.jsonl").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--tokens", "1"),
        ("--repeats", "0"),
        ("--cooldown", "-1"),
        ("--tokens", "100001"),
        ("--repeats", "101"),
        ("--cooldown", "nan"),
        ("--cooldown", "inf"),
        ("--seed", "-1"),
        ("--seed", str(2**64)),
        ("--bandwidth", "none"),
        ("--meter", "a plug"),
        ("--watts", "10", "--meter", "a plug"),
        ("--idle", "5"),
        ("--energy-seconds", "30"),
        ("--energy", "--watts", "10", "--meter", "a plug", "--idle", "-1"),
    ],
)
def test_settings_that_make_no_sense_are_usage_errors(run, shelf, home, words):
    said = run("measure", "synthetic/tiny-1", "--predict", "100", *words)
    assert (said.code, said.out) == (2, "")
    assert not (home / "ledger.jsonl").exists()


def test_energy_without_any_source_is_exit_code_5(run, shelf, monkeypatch):
    nothing = Choice((), (LookedFor("nvml", "no driver"),))
    monkeypatch.setattr("workbench.cli.metering.look", lambda: nothing)
    said = run("measure", "synthetic/tiny-1", "--predict", "100", "--energy")
    assert (said.code, said.out) == (5, "")
    assert "no driver" in said.err
    said = run("measure", "synthetic/tiny-1", "--predict", "100", "--energy", "--json")
    assert said.json["error"]["code"] == "power_absent"


def test_an_energy_pass_by_typed_watts_is_no_valid_claim_and_says_so(run, shelf):
    meter = ("--energy", "--watts", "40", "--meter", "a plug", "--idle", "0", "--energy-seconds", "0.5")
    said = run(
        "measure", "synthetic/tiny-1", "--predict", "100", "--bandwidth", "25", *SHORT, *meter, "--json"
    )
    record = said.json
    assert record["experiment"] == "energy"
    [reading] = [one for one in record["power"] if one["source"] == "external"]
    assert reading["claim"] != "valid"
    assert reading["mwh_per_token_gross"] == pytest.approx(40 / (3.6 * reading["tps_in_window"]), rel=0.03)
    assert "energy: decoding for the window" in said.err
    words = " ".join(" ".join(verdict_lines(msgspec.convert(record, Record))).split())
    assert f"mWh/token = 40.0 W / (3.6 x {rate(reading['tps_in_window'])} tok/s)" in words
    assert "claim: " in words


def test_run_1s_mistake_on_purpose_is_flagged_with_exit_code_1(run, shelf):
    said = run(
        *("measure", "synthetic/tiny-mixture", "--predict", "500", "--bandwidth", "0.05 spec a test"),
        *(*SHORT, "--rule", "all-bytes", "--json"),
    )
    record = said.json
    assert said.code == 1
    assert (record["verdict"], record["rule"]) == ("counting error", "all-bytes")
    assert (record["weight_bytes_per_token"], record["in_force"]) == (1_553_904, "count")
    assert record["weight_bytes_per_token_without_overrides"] == 607_856
    assert "The rule was wrong: all-bytes" in " ".join(record["verdict_reasons"])
    of = {fraction["of"]: fraction["value"] for fraction in record["fractions"]}
    times_too_many = of["spec 0.05 GB/s, all-bytes"] / of["spec 0.05 GB/s, count"]
    assert times_too_many == pytest.approx(1_553_904 / 607_856)


def test_what_mlx_lm_cannot_load_is_exit_code_3_before_anything_starts(run, published, tmp_path, home):
    said = run("measure", published("gguf-Bonsai-8B-Q1_0"), "--predict", "100", "--bandwidth", "25")
    assert (said.code, said.out) == (3, "")
    assert "GGUF" in said.err
    assert run("measure", tmp_path / "nowhere", "--predict", "100").code == 3
    assert not (home / "locks").exists()


def test_a_worker_that_cannot_load_is_exit_code_4_and_a_failed_record(run, tiny, tmp_path, home):
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in tiny["tiny-1"].iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    (broken / "tokenizer.json").write_text("{")
    said = run("measure", broken, "--predict", "100", "--bandwidth", "25", *SHORT)
    assert said.code == 4
    assert said.out.startswith("broken (synthetic weights): FAILED")
    assert "Traceback" not in said.out + said.err
    [record] = records_in(home)
    assert " ".join(said.out.split()).count(record.reason.rstrip(".")) == 1
    assert (record.status, record.predicted_tps_human) == ("failed", 100.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_run_keeps_the_record_and_exits_with_128_plus_n(shelf, home, number):
    workbench = begun(
        *("measure", "synthetic/tiny-1", "--predict", "321", "--bandwidth", "25"),
        *("--tokens", "100000", "--repeats", "1", "--no-witness", "--json"),
    )
    for line in workbench.stderr:
        if line.startswith("measure: repeat"):
            break
    began = time.monotonic()
    workbench.send_signal(number)
    out, err = workbench.communicate(timeout=20)
    assert workbench.returncode == 128 + number
    assert time.monotonic() - began < 5
    [record] = records_in(home)
    assert json.loads(out)["record_id"] == record.record_id
    assert record.status == "cancelled"
    assert signal.Signals(number).name in record.reason
    assert record.predicted_tps_human == 321.0
    assert list((home / "locks").iterdir()) == []
    assert "Traceback" not in err


def test_an_interrupted_run_is_recorded_by_the_next_start(run, home):
    left_open = a_record(
        7, status="interrupted", model="tiny-1", predicted_by="ana", predicted_tps_human=321.0
    )
    PredictionLock.create(home / "locks", left_open).abandon()
    assert run("measure", "nothing", "--predict", "100", "--tokens", "1").code == 2
    assert not (home / "ledger.jsonl").exists()  # a usage error changes nothing on disk
    said = run("measure", home / "nothing", "--predict", "100")
    assert f"note: an interrupted run of tiny-1 was recorded as {left_open.record_id}" in said.err
    [record] = records_in(home)
    assert (record.status, record.predicted_by) == ("interrupted", "ana")


def test_a_ladder_wants_every_number_first_and_leaves_a_record_each(run, shelf, home, capsys):
    said = run("ladder", "synthetic/tiny-1", "synthetic/tiny-2", "--predict", "100")
    assert (said.code, said.out) == (2, "")
    assert "2 checkpoints, 1 predictions" in said.err
    said = run(
        *("ladder", "synthetic/tiny-1", "synthetic/tiny-2", "--predict", "700", "--predict", "5 ms"),
        *("--bandwidth", "25", *SHORT),
    )
    assert said.code == 0
    header, *rows = said.out.splitlines()
    assert header.split()[:3] == ["id", "date", "machine"]
    assert [row.split()[4] for row in rows] == ["tiny-1", "tiny-2"]
    records = records_in(home)
    assert [record.predicted_tps_human for record in records] == [700.0, 200.0]
    assert max(record.predicted_at for record in records) < min(record.loaded_at for record in records)
    assert {record.experiment for record in records} == {"ladder"}
    ladder._show(records, as_json=True)
    assert [one["record_id"] for one in json.loads(capsys.readouterr().out)] == [r.record_id for r in records]


def test_demo_takes_the_settings_figure_and_appends_to_the_ledger_that_is_named(run, shelf, home, tmp_path):
    with (home / "settings.toml").open("a") as settings:
        settings.write('[[bandwidth]]\ngbps = 21\nkind = "achieved"\nsource = "my own probe"\n')
    other = tmp_path / "other.jsonl"
    append(other, Record(record_id="a-first-one", run_group_id="g", experiment="single", status="failed"))
    said = run("demo", "--checkpoint", "tiny-1", "--predict", "9", *SHORT, "--ledger", other, "--json")
    record = said.json
    assert (record["bandwidth_gbps"], record["bandwidth_source"]) == (21.0, "my own probe")
    assert (record["experiment"], record["synthetic_weights"]) == ("demo", True)
    assert len(read(other).records) == 2
    assert f"record: {record['record_id']} in {other}" in said.err
    assert not (home / "ledger.jsonl").exists()
