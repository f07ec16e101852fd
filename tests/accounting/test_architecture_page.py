"""docs/architectures.md is what its generator writes today."""

from tests.bench.architecture_table import PAGE, page


def test_the_page_is_what_the_count_says_now():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.bench.architecture_table"


def test_every_reason_is_in_words():
    rows = [line.split("|") for line in page().splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) == 2 + 37 + 123
    for row in rows[1:]:
        assert row[-2].strip(), row
