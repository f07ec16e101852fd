"""The README says what the program does: its tables come from the program's own registries."""

import re
from pathlib import Path
from urllib.parse import unquote

from tests.readme_tables import README, rendered


def test_the_tables_of_commands_and_keys_are_the_programs_own():
    assert README.read_text() == rendered(README.read_text())


def test_every_file_that_the_readme_shows_is_there():
    names = re.findall(r"\]\(([^)#:]+)\)", README.read_text())
    assert names
    assert [name for name in names if not (Path(README).parent / unquote(name)).exists()] == []
