"""The README's tables of commands and keys, from the program's own registries.

`python -m tests.readme_tables` rewrites them in place.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

README = Path(__file__).parents[1] / "README.md"


def commands_table() -> str:
    """One row a command, as `workbench --help` lists them."""
    from workbench.cli.main import COMMANDS

    rows = [(f"`workbench {name}`", text) for name, text in COMMANDS.items()]
    return _table(("command", "what it does"), [("`workbench`", "the screens"), *rows])


def keys_table() -> str:
    """One row an action, screen by screen; a key that only goes back is not worth one."""
    from workbench.tui.actions import ACTIONS, Where

    places = sorted(get_args(Where), key=lambda where: where == "everywhere")
    rows = []
    for where in places:
        name = f"**{where}**"
        for one in ACTIONS:
            if one.where == where and one.keys != ("escape",):
                rows.append((name, one.shown_keys, one.help, f"`workbench {one.twin}`" if one.twin else ""))
                name = ""
    return _table(("screen", "key", "what it does", "the same on the command line"), rows)


def rendered(text: str) -> str:
    """The README with both tables as they should be."""
    for name, table in (("commands", commands_table()), ("keys", keys_table())):
        pattern = rf"(<!-- {name}: [^\n]* -->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda m, t=table: f"{m[1]}{t}\n{m[2]}", text, flags=re.S)
    return text


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table of texts that are Markdown already."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "&#124;") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    README.write_text(rendered(README.read_text()))
