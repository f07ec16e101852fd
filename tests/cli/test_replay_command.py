"""`workbench replay`: the story on stdout without a terminal, the same order as the protocol's."""

import pytest

from tests.tui.office_ledger import fill, office, record_id
from workbench import locations
from workbench.cli.replay import story
from workbench.ledger.example import OFFICE_RUN_1
from workbench.ledger.store import append, read
from workbench.protocol.replaying import replay_of


def test_without_a_ledger_run_1_of_the_source_documents_is_told(run):
    before = OFFICE_RUN_1.read_bytes()
    told = run("replay")
    assert told.code == 0
    assert told.out.startswith("REPLAY: a recorded run. Nothing is measured, nothing is recorded.\n")
    assert "a token reads 20.391 GB by the rule all-bytes" in told.out
    assert "COUNTING ERROR" in told.out
    assert "221.6 %" in told.out
    assert "synthesized evenly" in told.out
    assert "discarded later: Every byte on disk was counted as read per token" in told.out
    assert OFFICE_RUN_1.read_bytes() == before
    assert not locations.ledger_path().exists()


def test_the_story_keeps_the_protocols_order(tmp_path):
    append(tmp_path / "ledger.jsonl", office(4, "Qwen3.5-9B-4bit"))
    [record] = read(tmp_path / "ledger.jsonl").records
    lines = list(story(replay_of(record)))
    steps = [line.split()[0] for line in lines if line[:1].strip()]
    assert steps == ["REPLAY:", "stamp", "count", "predict", "warm", "measure", "record"]
    measured_at = next(i for i, line in enumerate(lines) if "95.1" in line)
    predicted_at = next(i for i, line in enumerate(lines) if line.startswith("predict"))
    assert predicted_at < measured_at
    assert "ana 140.0, bo 100.0, chi 95.0 tok/s" in lines[predicted_at]


def test_a_ledgers_newest_playable_run_is_told_and_an_id_names_another(run, tmp_path):
    ledger = fill(tmp_path / "ledger.jsonl")
    before = ledger.read_bytes()
    assert "Qwen3.5-35B-A3B-4bit: COUNTING ERROR" in run("replay", ledger).out
    assert "Qwen3.5-2B-4bit: OK" in run("replay", ledger, "--record", record_id(2)[:8]).out
    assert ledger.read_bytes() == before


def test_with_json_the_record_comes_marked_as_a_replay(run, tmp_path):
    ledger = fill(tmp_path / "ledger.jsonl")
    told = run("replay", ledger, "--record", "latest", "--json")
    assert told.code == 2  # the newest one was cancelled: it holds no rate
    assert told.json["error"]["code"] == "not_replayable"
    told = run("replay", ledger, "--record", record_id(9)[:8], "--json").json
    assert told["replay"] is True
    assert told["record"]["generation_tps"] == 88.99
    assert told["discarded"].startswith("Every byte")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--speed", "0"], "usage"),
        (["--speed", "nan"], "usage"),
        (["--record", "ffffffff"], "no_record"),
        (["nowhere.jsonl"], "ledger_missing"),
    ],
)
def test_what_cannot_be_played_is_said(run, words, code):
    told = run("replay", *words, "--json")
    assert told.code == 2
    assert told.json["error"]["code"] == code


def test_an_empty_ledger_has_nothing_to_play(run, tmp_path):
    (tmp_path / "ledger.jsonl").touch()
    told = run("replay", tmp_path / "ledger.jsonl")
    assert told.code == 2
    assert "no run that can be replayed" in told.err


def test_hostile_names_stay_text(run, tmp_path):
    append(tmp_path / "ledger.jsonl", office(4, "Qwen3.5-9B-4bit", alias="\x1b[31mred\u202e"))
    told = run("replay", tmp_path / "ledger.jsonl")
    assert "\x1b" not in told.out
    assert "\\x1b[31mred\\u202e" in told.out
