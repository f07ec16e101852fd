"""Records of ill will through every command that reads a ledger: no exception, nothing that acts."""

import csv
import io
import itertools

import pytest

from tests.hostile import NUMBERS, TEXTS, acting, line, one_field, record

READING = (
    ["ledger"],
    ["ledger", "list", "--format", "markdown"],
    ["ledger", "list", "--format", "csv"],
    ["ledger", "list", "--json"],
    ["ledger", "card"],
    ["ledger", "card", "--format", "markdown"],
    ["ledger", "report"],
    ["ledger", "report", "--format", "markdown"],
    ["ledger", "tables"],
    ["ledger", "verify"],
    ["fit", "--calibration"],
    ["fit", "--calibration", "--json"],
    ["replay", "LEDGER", "--headless"],
)
FORGED = "workbench: all is well"
"""What one of the texts has behind a newline."""
PLAYABLE = {"experiment": "single", "generation_tps": 50.0, "weight_bytes_per_token": 10**9, "rule": "count"}


@pytest.fixture
def ledger(home):
    home.mkdir(exist_ok=True)
    return home / "ledger.jsonl"


def fill(ledger, *records):
    ledger.write_bytes(b"".join(line(fields) for fields in records))


@pytest.fixture
def harmless(run, ledger):
    """Every reading command: what it says cannot act, and no line of it is one that a text began."""

    def check(*commands):
        for words in commands:
            said = run(*(ledger if word == "LEDGER" else word for word in words))
            assert said.code in {0, 1, 2}
            for text in (said.out, said.err):
                assert not acting(text.replace("\r\n", "\n") if "csv" in words else text), words
            begun = [line for line in (said.out + said.err).split("\n") if line.startswith(FORGED)]
            assert not begun or "csv" in words, words  # a csv cell may hold a newline, in its quotes
            assert "Traceback" not in said.err

    return check


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("given", [{}, {"status": "measured"} | PLAYABLE], ids=["all of it", "playable"])
def test_a_text_in_every_field_at_once(harmless, ledger, text, given):
    fields = record(text, 1, **given)
    fill(ledger, fields, one_field("alias", text, 1), fields | {"record_id": "c" * 9})
    harmless(*READING, ["ledger", "compare", "00000004", "c" * 9], ["ledger", "compare", "c" * 9, "00000004"])


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("given", [{}, PLAYABLE, {"generation_tps": 50.0}], ids=["all", "playable", "rate"])
def test_a_number_in_every_field_at_once(harmless, ledger, number, given):
    fields = record("a", number, **({"experiment": "single", "status": "measured"} | given))
    fill(ledger, fields, one_field("alias", "b", 1), fields | {"record_id": "c" * 9})
    harmless(*READING, ["ledger", "compare", "00000004", "c" * 9], ["ledger", "discard", "c" * 9])


def test_cells_of_a_csv_are_no_formulas_whatever_the_text_begins_with(run, ledger):
    starts = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "|calc", "%0A=1", "＝1")
    fill(ledger, *(record(start, 1, record_id=f"id-{i}") for i, start in enumerate(starts)))
    rows = list(csv.reader(io.StringIO(run("ledger", "list", "--format", "csv").out)))
    assert len(rows) == len(starts) + 1
    for cell in itertools.chain(*rows[1:]):
        number = cell.removeprefix("-").replace(".", "").replace("e", "").isdigit()
        assert number or not cell.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")), cell
