"""Names made to break a terminal, in every place where one can come in: nothing of them can act."""

import json
import unicodedata

import pytest

from tests.checkpoints import invent
from tests.ledger.builders import a_record
from workbench.cli.planning import command
from workbench.ledger.parts import NamedPrediction
from workbench.ledger.store import append, read
from workbench.locations import synthetic_dir

ACTING = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
HOSTILE = {
    "ansi": "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "rich tags": "[bold red]loud[/] [link=file:///etc/passwd]x[/link]",
    "bidi": "abc\u202egpj.exe\u2066",
    "newlines": "a\nworkbench: all is well\r\n\x0b\u2028next",
    "long": "x" * 5000,
    "backspaces": "good\x08\x08\x08\x08bad",
}


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE.keys())
def name(request):
    return request.param


@pytest.fixture
def harmless():
    def check(said, *, longest=400):
        for line in (said.out + said.err).split("\n"):
            acting = [c for c in line if unicodedata.category(c) in ACTING]
            assert acting == []
            assert len(line) < longest
            assert line != "workbench: all is well"  # a line that only the name could have begun
        return said

    return check


@pytest.fixture
def checkpoint(tmp_path, name):
    """A checkpoint whose folder and tensors have the name."""
    tensors = {
        f"model.layers.0.mlp.{name}.weight": ("BF16", [64, 64]),
        f"{name}.oddity": ("BF16", [64]),
        "model.embed_tokens.weight": ("BF16", [128, 64]),
    }
    config = {
        "model_type": name,
        "architectures": [name],
        "num_hidden_layers": 1,
        "vocab_size": 128,
        "quantization": {"mode": name, "bits": 4, "group_size": 64},
    }
    return invent(tmp_path / name[:100].replace("/", "_"), tensors, config)


def test_a_checkpoints_names_in_every_command_that_reads_one(run, harmless, checkpoint):
    for words in (
        ["bytes", checkpoint],
        ["audit", checkpoint],
        ["audit", checkpoint, "--tensors"],
        ["predict", checkpoint, "--bandwidth", "25"],
        ["compare", checkpoint, checkpoint],
        ["check", checkpoint, "--measured", "5", "--bandwidth", "25"],
        ["models", "--models", checkpoint.parent],
        ["measure", checkpoint, "--predict", "5", "--bandwidth", "25", "--no-witness"],
    ):
        said = harmless(run(*words))
        assert said.out + said.err


def test_json_keeps_the_name_and_shows_it_in_ascii(run, checkpoint, name):
    said = run("audit", checkpoint, "--json")
    assert said.out.isascii()
    assert said.out.count("\n") == 1
    assert any(tensor["name"] == f"{name}.oddity" for tensor in json.loads(said.out)["tensors"])
    [row] = [
        row
        for row in run("models", "--models", checkpoint.parent, "--json").json
        if row["path"] == str(checkpoint)
    ]
    assert row["architecture"] == name


def test_words_of_the_command_line_that_name_nothing(run, harmless, shelf, name):
    for words in (
        [name],
        ["bytes", name],
        ["bytes", f"./{name}"],
        ["bytes", f"synthetic/{name}"],
        ["measure", "synthetic/tiny-1", "--predict", name],
        ["measure", "synthetic/tiny-1", "--predict", f"{name}=5", "--tokens", "1"],
        ["predict", "synthetic/tiny-1", "--bandwidth", name],
        ["check", "synthetic/tiny-1", "--measured", name, "--bandwidth", "25"],
        ["ledger", "card", name],
        ["ledger", "list", f"{name}:x"],
        ["ledger", "import", name],
        ["bytes", "synthetic/tiny-1", "--rule", name],
        ["bytes", "synthetic/tiny-1", "--overrides", name],
    ):
        said = harmless(run(*words), longest=6000)
        assert said.code in {0, 2, 3}
        assert set(run(*words, "--json").json if said.code else []) <= {"error"}


def test_a_source_in_a_persons_words(run, harmless, shelf, name):
    said = harmless(run("predict", "synthetic/tiny-1", "--bandwidth", "25", "--bandwidth-source", name))
    assert said.code == 0


def test_a_record_of_another_machine(run, harmless, home, name):
    said = [NamedPrediction(name, 120.0), NamedPrediction("bo", 80.0)]
    record = a_record(
        *(1,),
        alias=name,
        device=name,
        model=name,
        reason=name,
        scope=name,
        command=[name],
        verdict=name,
        predictions=said,
        generation_tps=100.0,
        weight_bytes_per_token=10**9,
        verdict_reasons=[name],
        architecture=name,
    )
    append(home / "ledger.jsonl", record)
    for words in (
        ["ledger"],
        ["ledger", "card"],
        ["ledger", "report"],
        ["ledger", "tables"],
        ["ledger", "list", "--format", "markdown"],
        ["ledger", "verify"],
        ["fit", "--calibration"],
        ["doctor"],
    ):
        harmless(run(*words), longest=12000)
    csv = run("ledger", "list", "--format", "csv").out
    assert not any(unicodedata.category(c) in ACTING - {"Cc"} or c in "\x1b\x9b\x08" for c in csv)


def test_a_name_that_is_no_utf_8_is_shown_and_kept(run, tmp_path):
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    path = invent(tmp_path / name, {"model.norm.weight": ("F32", [8])}, {"model_type": "llama"})
    assert run("bytes", path).out.startswith("caf?: ")
    assert run("bytes", path, "--json").out.isascii()


def test_a_persons_words_that_are_no_utf_8_reach_the_record_as_text(run, shelf, home, monkeypatch):
    word = b"caf\xe9".decode("utf-8", "surrogateescape")
    words = ["check", "synthetic/tiny-1", "--measured", "5", "--bandwidth", "25 spec " + word, "--record"]
    words += ["--by", word, "--device", word, "--runtime", word, "--draft-model", word]
    assert run(*words).code == 0
    [record] = read(home / "ledger.jsonl").records
    assert (record.device, record.measured_by) == ("caf\ufffd", "caf\ufffd")
    assert run("ledger", "verify").code == 0
    monkeypatch.setattr("sys.argv", ["workbench", *words])
    assert command()[-1] == "caf\ufffd"


def test_a_path_that_no_worker_can_be_told_is_said_in_words(run, shelf, tmp_path):
    folder = tmp_path / b"caf\xe9".decode("utf-8", "surrogateescape")
    folder.symlink_to(synthetic_dir() / "tiny-1")
    said = run("audit", folder, "--prove")
    assert said.code == 4
    assert "no UTF-8" in said.err and "Rename the folder" in said.err
    said = run("measure", folder, "--predict", "5", "--bandwidth", "25", "--no-witness", "--json")
    assert said.code == 4
    assert "no UTF-8" in said.json["reason"]
