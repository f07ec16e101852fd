"""`models`, `stamp`, `doctor`, `power`, `bandwidth`: what this machine has, and what it can say."""

import json
import signal
import sys
import time

import psutil
import pytest
from msgspec.structs import replace

from tests.checkpoints import invent, write_gguf
from tests.cli.processes import begun
from workbench.errors import WorkerError
from workbench.ledger.store import read
from workbench.shelf.synthetic import NAMES

ENTRY = {"name", "path", "bytes", "architecture", "quantization", "experts", "state", "reason"}


@pytest.fixture
def models(tmp_path):
    """A folder with a whole checkpoint, a torn one and one in GGUF."""
    tensors = {"model.embed_tokens.weight": ("BF16", [128, 64]), "model.norm.weight": ("BF16", [64])}
    config = {"model_type": "llama", "num_hidden_layers": 0, "vocab_size": 128}
    folder = tmp_path / "models"
    invent(folder / "whole", tensors, config)
    torn = invent(folder / "publisher" / "torn", tensors, config, shards=2)
    (torn / "model-00002-of-00002.safetensors").unlink()
    (folder / "gguf").mkdir()
    kv = [("general.architecture", "str", "llama")]
    write_gguf(folder / "gguf" / "m.gguf", kv, [("token_embd.weight", 0, [64, 8], 2048)])
    return folder


def test_models_is_a_list_of_entries_with_their_state(run, models):
    found = run("models", "--models", models, "--json").json
    assert all(set(entry) == ENTRY for entry in found)
    by_name = {entry["name"]: entry for entry in found}
    assert {f"synthetic/{name}" for name in NAMES} <= set(by_name)
    whole = next(entry for name, entry in by_name.items() if name.endswith("whole"))
    assert (whole["state"], whole["reason"], whole["architecture"]) == ("complete", None, "llama")
    torn = next(entry for name, entry in by_name.items() if name.endswith("torn"))
    assert torn["state"] == "incomplete"
    assert "model-00002-of-00002.safetensors" in torn["reason"]


def test_models_in_words_say_below_a_row_what_keeps_it_from_running(run, models):
    lines = run("models", "--models", models).out.splitlines()
    assert lines[0].split() == ["name", "on", "disk", "architecture", "quantization", "experts", "state"]
    torn = next(number for number, line in enumerate(lines) if "torn" in line)
    assert lines[torn].endswith("incomplete")
    assert lines[torn + 1].startswith("    model-00002-of-00002.safetensors is missing")
    assert sum(line.endswith("not built yet") for line in lines) == len(NAMES)


def test_a_folder_that_is_not_there_is_said_beside_what_was_found(run, models):
    said = run("models", "--models", models, "--models", models / "mistyped", "--json")
    assert any(entry["name"].endswith("whole") for entry in said.json)
    assert said.code == 0
    words = " ".join(said.err.split())
    assert words.startswith("note: ")
    assert words.endswith("mistyped cannot be looked through for checkpoints: No such file or directory.")


def test_the_settings_name_folders_too(run, models, home):
    home.mkdir()
    (home / "settings.toml").write_text(f"models = [{json.dumps(str(models))}]\n")
    assert any(entry["name"].endswith("whole") for entry in run("models", "--json").json)


def test_the_stamp_says_who_measures_with_what(run):
    found = run("stamp", "--json").json
    assert found["schema_version"] == 1
    assert {"alias", "device", "memory_bytes", "mlx", "mlx_lm", "transformers", "python", "date"} <= set(
        found
    )
    assert found["python"] == sys.version.split()[0]
    assert found["mlx"]
    assert found["mlx_lm"]


@pytest.fixture
def no_backend(monkeypatch):
    async def none(**_):
        raise WorkerError("MLX is not installed.", "Install the extra cpu.")

    monkeypatch.setattr("workbench.protocol.prepare.worker_stamp", none)


def test_without_a_backend_the_stamp_is_null_there_and_says_what_to_install(run, no_backend):
    said = run("stamp", "--json")
    assert said.code == 0
    assert said.json["mlx"] is None
    assert said.err == "workbench: MLX is not installed.\n  Install the extra cpu.\n"
    said = run("stamp")
    assert next(line for line in said.out.splitlines() if line.startswith("mlx ")).split() == ["mlx", "-"]


def test_the_doctor_names_every_subject_and_changes_nothing(run, no_backend, home):
    found = run("doctor", "--json").json
    assert found["schema_version"] == 1
    by_subject = {check["subject"]: check for check in found["checks"]}
    assert {"ledger", "settings", "encoding", "terminal", "backend", "power"} <= set(by_subject)
    assert by_subject["backend"] == {
        "subject": "backend",
        "ok": False,
        "words": "MLX is not installed. Install the extra cpu.",
    }
    said = run("doctor")
    assert said.code == 0
    assert all(line[:4] in {"ok  ", "--  ", "    "} for line in said.out.splitlines())
    assert not home.exists()


def test_the_doctor_says_where_no_ledger_can_be_begun(run, no_backend, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "a file" / "deeper"))
    [ledger] = [check for check in run("doctor", "--json").json["checks"] if check["subject"] == "ledger"]
    assert not ledger["ok"]
    assert ledger["words"].endswith("a file is no folder.")


def test_the_doctor_finds_a_damaged_ledger_and_odd_settings(run, no_backend, home):
    home.mkdir()
    (home / "ledger.jsonl").write_text("torn\n")
    (home / "settings.toml").write_text("colour = 1\n")
    checks = {check["subject"]: check for check in run("doctor", "--json").json["checks"]}
    assert not checks["ledger"]["ok"]
    assert "`workbench ledger verify`" in checks["ledger"]["words"]
    assert not checks["settings"]["ok"]
    assert "colour" in checks["settings"]["words"]


def test_power_reads_a_meter_that_is_named_and_gives_no_claim_for_a_moment(run):
    words = ("power", "--seconds", "0.2", "--watts", "40", "--meter", "a plug behind the machine")
    found = run(*words, "--json").json
    assert found["schema_version"] == 1
    row = next(row for row in found["rows"] if row["source"] == "external")
    assert row["mean_w"] == 40
    said = run(*words)
    assert "external: 40.00 W" in said.out
    assert "a plug behind the machine" in said.out
    assert run("power", "--seconds", "0").code == 2
    assert run("power", "--meter", "a plug").code == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_meters_command_that_hangs_with_the_program(tmp_path, home, number):
    note = tmp_path / "pid"
    meter = tmp_path / "meter"
    meter.write_text(f"#!/bin/sh\necho $$ > {note}.new; mv {note}.new {note}; sleep 3600\n")
    meter.chmod(0o755)
    workbench = begun("power", "--meter", "a plug", "--watts-command", meter)
    deadline = time.monotonic() + 20
    while not note.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    started = [psutil.Process(int(note.read_text()))]
    started += started[0].children()
    workbench.send_signal(number)
    out, err = workbench.communicate(timeout=20)
    assert (workbench.returncode, out) == (128 + number, "")
    assert "Traceback" not in err
    assert psutil.wait_procs(started, timeout=10)[1] == []


def test_power_without_a_source_says_what_was_looked_for(run, monkeypatch):
    from workbench.power.choice import Choice, LookedFor

    monkeypatch.setattr(
        "workbench.cli.metering.look", lambda: Choice((), (LookedFor("nvml", "no driver here"),))
    )
    said = run("power")
    assert said.code == 0
    assert said.out == "No power source on this machine.\n"
    assert "  nvml: no driver here\n" in said.err
    found = run("power", "--json").json
    assert found["rows"] == []
    assert found["looked_for"] == [["nvml", "no driver here"]]


def test_power_names_its_rows_apart_and_says_once_why_one_ended(run, monkeypatch):
    from workbench.power.choice import Choice
    from workbench.power.nvml import Nvml
    from workbench.power.surroundings import Surroundings

    def missing(name):
        raise OSError("the driver went away")

    nvml = Nvml(Surroundings("Linux", load_module=missing))
    monkeypatch.setattr("workbench.cli.metering.look", lambda: Choice((nvml,), ()))
    said = run("power", "--seconds", "0.1")
    assert "nvml-counter: no reading over 0 samples\n" in said.out
    assert "nvml-instant: no reading over 0 samples\n" in said.out
    assert said.out.count("the driver went away") == 2  # once a row
    assert [row["key"] for row in run("power", "--seconds", "0.1", "--json").json["rows"]] == [
        "nvml-counter",
        "nvml-instant",
    ]


def test_a_bandwidth_probe_is_recorded_and_names_its_kernel(run, home):
    said = run("bandwidth", "--quick", "--repeats", "2", "--megabytes", "4", "--json")
    assert said.code == 0
    assert said.json["experiment"] == "bandwidth"
    assert said.json["kernels"][0]["best_gbps"] <= said.json["achieved_gbps"] + 1e-9
    [record] = read(home / "ledger.jsonl").records
    assert record.record_id == said.json["record_id"]
    assert run("ledger", "verify").code == 0
    assert "bandwidth probe" in run("ledger").out


def test_a_probe_of_nothing_is_a_usage_error(run):
    assert run("bandwidth", "--repeats", "0").code == 2
    assert run("bandwidth", "--megabytes", "0").code == 2


def test_a_kernel_that_hardly_moves_anything_is_not_shown_as_zero():
    from workbench.cli.bandwidth import _cells
    from workbench.ledger.parts import KernelFigure

    slow = KernelFigure("matvec", "4-bit", 8_000_000, 4, 8, best_gbps=0.0331, median_gbps=0.0298)
    assert _cells(slow)[-2:] == ("0.0331", "0.0298")
    assert [_cells(replace(slow, bytes=size))[2] for size in (8_000_000, 249_856)] == ["8", "0.25"]
    assert _cells(KernelFigure("sum", "uint32", 8, 4, 8, 1814.63, 9.06))[-2:] == ("1,814.6", "9.1")
