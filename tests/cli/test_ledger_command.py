"""`ledger`: list, card, report, verify, compare, tables, add, import, merge, discard, in every format."""

import csv
import io
import json

import pytest

from tests.analysis.office import office_record
from tests.ledger.builders import a_record
from workbench.ledger import store
from workbench.ledger.example import OFFICE_RUN_1
from workbench.ledger.store import append, read

BENCH_ROW = {  # llama-bench -o jsonl, as far as its importer needs it
    "build_commit": "0104b15",
    "cpu_info": "Apple M4 Pro",
    "gpu_info": "Apple M4 Pro",
    "backends": "MTL,BLAS",
    "model_filename": "/models/Bonsai-8B-Q1_0.gguf",
    "model_type": "qwen3 8B Q1_0",
    "model_size": 1158000000,
    "n_prompt": 0,
    "n_gen": 128,
    "n_depth": 0,
    "test_time": "2026-10-01T12:00:00Z",
    "avg_ns": 1969230769,
    "stddev_ns": 1000000,
    "avg_ts": 65.0,
    "stddev_ts": 0.2,
    "samples_ts": [65.1, 64.9],
}


@pytest.fixture
def ledger(home):
    path = home / "ledger.jsonl"
    append(path, office_record("Qwen3.5-9B-4bit", record_id="aaaa1111-9b", verdict="ok"))
    append(
        path,
        office_record(
            "Qwen3.5-27B-4bit", record_id="bbbb2222-27b", verdict="ok", date="2026-10-02T00:00:00Z"
        ),
    )
    append(
        path,
        office_record(
            "Qwen3.5-35B-A3B-4bit", rule="all-bytes", record_id="cccc3333-moe", verdict="counting error"
        ),
    )
    return path


def test_without_an_action_the_table_shows_every_record_by_the_beginning_of_its_id(run, ledger):
    said = run("ledger")
    assert (said.code, said.err) == (0, "")
    header, *rows = said.out.splitlines()
    assert header.split() == [
        *("id", "date", "machine", "model", "bits", "GB/token", "said", "tok/s", "of", "ceiling"),
        *("verdict", "status"),
    ]
    assert [row.split()[0] for row in rows] == ["aaaa1111", "bbbb2222", "cccc3333"]
    assert run("ledger", "list").out == said.out


def test_an_empty_ledger_is_no_error(run):
    assert run("ledger").out == "No records.\n"
    assert run("ledger", "--json").json == []
    assert run("ledger", "verify").out == "0 records, 0 problems\n"
    said = run("ledger", "card")
    assert (said.code, said.out) == (2, "")
    assert "`workbench measure`" in said.err


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["verdict:counting"], ["cccc3333"]),
        (["model:27b", "machine:office"], ["bbbb2222"]),
        (["since:2026-10"], ["bbbb2222"]),
        (["9B"], ["aaaa1111"]),
    ],
)
def test_words_filter_the_table(run, ledger, words, ids):
    rows = run("ledger", "list", *words).out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ids


def test_a_filter_that_there_is_not_is_a_usage_error(run, ledger):
    said = run("ledger", "list", "colour:red", "--json")
    assert (said.code, said.json["error"]["code"]) == (2, "usage")


def test_the_list_in_json_csv_and_markdown(run, ledger):
    records = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert run("ledger", "--json").json == records
    assert run("ledger", "list", "--format", "json").json == records
    rows = list(csv.DictReader(io.StringIO(run("ledger", "list", "--format", "csv").out)))
    assert [row["record_id"] for row in rows] == ["aaaa1111-9b", "bbbb2222-27b", "cccc3333-moe"]
    assert rows[0]["weight_bytes_per_token"] == "4465912320"
    markdown = run("ledger", "list", "--format", "markdown").out.splitlines()
    assert markdown[0].startswith("| date | machine |")
    assert len(markdown) == 2 + len(records)


def test_a_card_and_a_report_of_one_record(run, ledger):
    card = run("ledger", "card", "aaaa").out
    labels = [line[:16].strip() for line in card.splitlines() if line[:16].strip()]
    assert labels[:5] == ["alias", "date", "build", "versions", "model"]
    assert "measurement" in labels
    assert "95.1 tok/s" in card
    report = run("ledger", "report", "aaaa").out
    assert "power or energy" in report  # "Bandwidth Ledger": its items, then its row
    assert "bytes per forward pass" in report
    assert "utilization" in report
    assert max(map(len, (card + report).splitlines())) <= 110
    assert run("ledger", "card", "--json").json["record_id"] == "cccc3333-moe"  # the newest
    assert run("ledger", "card", "aaaa", "--format", "markdown").out.startswith("## Qwen3.5-9B-4bit\n")


def test_an_id_that_names_none_or_several_is_said(run, ledger):
    assert run("ledger", "card", "zzzz", "--json").json["error"]["code"] == "no_record"
    assert run("ledger", "card", "a", "--json").json["error"]["code"] == "ambiguous_record"


def test_two_records_field_by_field(run, ledger):
    found = run("ledger", "compare", "aaaa", "bbbb", "--json").json
    assert found["records"] == ["aaaa1111-9b", "bbbb2222-27b"]
    assert found["differs"]["generation_tps"] == [95.1, 32.6]
    row = next(
        line
        for line in run("ledger", "compare", "aaaa", "bbbb").out.splitlines()
        if line.startswith("generation_tps ")
    )
    assert row.split() == ["generation_tps", "95.1", "32.6", "0.343"]
    assert run("ledger", "compare", "aaaa").code == 2


def test_discarding_needs_a_reason_and_rewrites_nothing(run, ledger):
    before = ledger.read_bytes()
    assert run("ledger", "discard", "cccc").code == 2
    assert ledger.read_bytes() == before
    said = run("ledger", "discard", "cccc", "--reason", "every byte was counted", "--json")
    assert said.code == 0
    assert (said.json["discards"], said.json["status"]) == ("cccc3333-moe", "discarding")
    assert ledger.read_bytes().startswith(before)
    assert run("ledger").out.splitlines()[-1].split()[-1] == "discarded"
    assert "every byte was counted" in run("ledger", "card", "cccc").out
    assert run("ledger", "discard", "cccc", "--reason", "again").code == 2


def test_verify_names_the_line_that_was_changed(run, home):
    path = home / "ledger.jsonl"
    append(path, a_record(1, status="imported", experiment="external"))
    append(path, a_record(2, status="imported", experiment="external"))
    assert run("ledger", "verify").code == 0
    path.write_text(path.read_text().replace("Qwen3.5-9B-4bit", "Qwen3.5-4B-4bit", 1) + "torn\n")
    said = run("ledger", "verify")
    assert said.code == 1
    assert [line.split(":")[0] for line in said.out.splitlines()] == [
        "line 1",
        "line 3",
        "2 records, 2 problems",
    ]
    found = run("ledger", "verify", "--json")
    assert (found.code, found.json["schema_version"]) == (1, 1)
    assert [problem["code"] for problem in found.json["problems"]] == ["seal", "damaged"]
    listed = run("ledger", "--json")
    assert len(listed.json) == 2
    assert listed.err.startswith("line 3 is damaged and was skipped")


def test_rows_of_llama_bench_are_imported_once_and_marked_as_not_measured_here(run, home, tmp_path):
    file = tmp_path / "bench.jsonl"
    file.write_text(json.dumps(BENCH_ROW) + "\n")
    said = run("ledger", "import", file, "--by", "a colleague", "--json")
    assert said.code == 0
    assert said.json["files"][0] == {"path": str(file), "added": 1, "known": 0, "refused": []}
    assert "1 records added" in said.err
    [record] = read(home / "ledger.jsonl").records
    assert (record.status, record.measured_by, record.generation_tps) == ("imported", "a colleague", 65.0)
    assert run("ledger", "import", file).err == f"{file}: 0 records added, 1 were here already\n"
    assert run("ledger", "import").code == 2
    assert (
        run("ledger", "import", tmp_path / "none.jsonl", "--json").json["error"]["code"] == "import_missing"
    )


def test_another_machines_ledger_is_merged_by_record_id(run, ledger):
    said = run("ledger", "merge", OFFICE_RUN_1)
    assert said.code == 0
    assert "3 records added, 0 were here already" in said.err
    [found] = run("ledger", "merge", OFFICE_RUN_1, "--json").json["files"]
    assert (found["added"], found["known"], found["conflicting"]) == (0, 3, [])
    assert run("ledger", "merge", ledger, "--json").json["error"]["code"] == "same_ledger"


def test_the_source_documents_tables_come_out_of_the_shipped_run(run, home):
    assert run("ledger", "merge", OFFICE_RUN_1).code == 0
    tables = run("ledger", "tables").out
    assert tables.count("## ") == 4
    assert "1.659" in tables
    assert "impossible" in tables
    assert run("ledger", "tables", "--json").json["markdown"] + "\n" == tables


def test_a_number_that_somebody_else_measured_is_typed_in(run, home):
    # the example of "Bandwidth Ledger": M4 Pro, 273 GB/s, a Q1_0 file of 1.159 GB, 65 t/s
    words = [
        *("ledger", "add", "--model", "Bonsai-8B-Q1_0", "--device", "Apple M4 Pro", "--runtime", "llama.cpp"),
        *("--commit", "0104b15", "--run-command", "llama-bench -m Bonsai.gguf", "--by", "the author"),
        *("--weight-bytes", "1.158654e9", "--bandwidth", "273 spec Apple", "--measured", "65"),
    ]
    said = run(*words, "--json")
    record = said.json
    assert said.code == 0
    assert (record["status"], record["experiment"], record["rule"]) == ("imported", "external", "whole-file")
    assert record["predicted_decode_tps"] == pytest.approx(235.6, abs=0.05)
    assert record["fractions"][0]["value"] == pytest.approx(0.276, abs=0.001)
    assert record["runtime_commit"] == "0104b15"
    assert run("ledger", "verify").code == 0
    said = run(*words)
    assert said.out.startswith("Bonsai-8B-Q1_0: ")
    assert "not measured here" in said.err
    assert len(read(home / "ledger.jsonl").records) == 2


@pytest.mark.parametrize("size", ["nan", "inf", "1e999", "1e300"])
def test_a_typed_size_that_is_none_is_said(run, home, size):
    words = ["--model", "m", "--device", "d", "--runtime", "r", "--by", "b", "--weight-bytes", size]
    said = run("ledger", "add", *words)
    assert (said.code, said.out) == (2, "")
    assert "bytes per token is no size" in said.err


def test_a_typed_row_without_who_measured_is_a_rumour(run, home):
    said = run("ledger", "add", "--model", "m", "--device", "d", "--runtime", "r", "--measured", "5")
    assert said.code == 2
    assert "rumour" in said.err
    assert not (home / "ledger.jsonl").exists()


def test_the_path_of_the_ledger_and_of_another_one(run, ledger, tmp_path, monkeypatch):
    assert run("ledger", "path").out == f"{ledger}\n"
    assert run("ledger", "path", "--json").json["path"] == str(ledger)
    assert run("ledger", "path", "--ledger", "elsewhere.jsonl").out == "elsewhere.jsonl\n"
    monkeypatch.setenv("WORKBENCH_LEDGER", str(tmp_path / "mine.jsonl"))
    assert run("ledger", "path").out == f"{tmp_path / 'mine.jsonl'}\n"


def test_a_ledger_that_is_a_folder_is_said_in_words(run, tmp_path):
    for action in ("list", "card", "verify", "tables"):
        said = run("ledger", action, "--ledger", tmp_path)
        assert (said.code, said.out) == (2, ""), action
        assert said.err.startswith("workbench: ")


def test_the_tables_take_the_lists_filters_and_another_bandwidth_figure(run, ledger):
    everything = run("ledger", "tables").out
    assert "Qwen3.5-27B" in everything
    said = run("ledger", "tables", "model:9B", "--bandwidth", "638 achieved a kernel")
    assert said.code == 0
    assert "Qwen3.5-27B" not in said.out
    assert "Ceiling (638 GB/s ÷ bytes)" in said.out
    assert "| Qwen3.5-9B-4bit | 143 | 95 | 67% |" in said.out  # as "The Decode Ceiling" prints it
    assert run("ledger", "tables", "colour:red").code == 2


def test_an_imported_row_is_judged_by_its_own_figure_or_the_one_that_is_given(run, home, tmp_path):
    file = tmp_path / "bench.jsonl"
    file.write_text(json.dumps(BENCH_ROW) + "\n" + json.dumps({**BENCH_ROW, "avg_ts": 650.0}) + "\n")
    said = run("ledger", "import", file, "--bandwidth", "273 spec Apple's spec")
    assert said.code == 1
    assert "1 of them are above 100 % of a ceiling" in said.err
    first, second = run("ledger", "--json").json
    assert (first["verdict"], first["bandwidth_source"]) == ("ok", "Apple's spec")
    assert second["verdict"] == "counting error"
    assert run("ledger", "verify").code == 0


def test_without_a_figure_an_imported_row_has_no_verdict_and_is_no_error(run, home, tmp_path):
    file = tmp_path / "bench.jsonl"
    file.write_text(json.dumps(BENCH_ROW) + "\n")
    assert run("ledger", "import", file).code == 0
    [record] = run("ledger", "--json").json
    assert (record["verdict"], record["bandwidth_gbps"]) == (None, None)


def test_a_correction_is_listed_where_it_is_asked_for_and_can_itself_be_taken_back(run, ledger):
    run("ledger", "discard", "cccc", "--reason", "a mistake")
    [correction] = run("ledger", "list", "status:discarding", "--json").json
    assert correction["discards"] == "cccc3333-moe"
    assert len(run("ledger", "--json").json) == 3
    assert run("ledger", "discard", correction["record_id"], "--reason", "it was right").code == 0
    assert "discarded" not in run("ledger").out


def test_one_record_of_a_long_ledger_costs_no_others_decoding(run, ledger, monkeypatch):
    decoded = []
    original = store.decode
    monkeypatch.setattr(store, "decode", lambda line: decoded.append(line) or original(line))
    assert "95.1 tok/s" in run("ledger", "card", "aaaa").out
    assert run("ledger", "report", "bbbb").code == 0
    assert run("replay", ledger, "--headless").code == 0
    assert len(decoded) == 3


def test_a_line_that_is_damaged_behind_its_headline_is_no_replay_and_hides_no_other(run, ledger):
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(lines) + lines[0].replace(b'"warnings":[', b'"warnings":[7', 1))
    assert run("replay", ledger, "--headless").code == 0
    assert run("ledger", "verify").code == 1
    for form in (["--json"], ["--format", "csv"]):
        said = run("ledger", "list", *form)
        assert said.code == 0
        assert "line 4 is damaged and was skipped" in said.err
    assert len(run("ledger", "list", "--json").json) == 3
    assert run("ledger", "tables").code == 0
