"""The README's tables of commands and keys, from the program's own registries.

`python -m tests.readme_tables` rewrites them in place.
"""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def commands_table() -> str:
    """One row a command, as `workbench --help` lists them."""
    from workbench.cli.main import COMMANDS

    rows = [f"| `workbench {name}` | {text} |" for name, text in COMMANDS.items()]
    return "\n".join(["| command | what it does |", "|---|---|", "| `workbench` | the screens |", *rows])


def keys_table() -> str:
    """One row an action of the screens."""
    from workbench.tui.actions import ACTIONS

    rows = [
        f"| {action.shown_keys.replace('|', '&#124;')} | {action.help} | {_twin(action.twin)} |"
        for action in ACTIONS
    ]
    return "\n".join(["| key | what it does | the same on the command line |", "|---|---|---|", *rows])


def rendered(text: str) -> str:
    """The README with both tables as they should be."""
    for name, table in (("commands", commands_table()), ("keys", keys_table())):
        pattern = rf"(<!-- {name}: [^\n]* -->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda m, t=table: f"{m[1]}{t}\n{m[2]}", text, flags=re.S)
    return text


def _twin(twin: str) -> str:
    return f"`workbench {twin}`" if twin else ""


if __name__ == "__main__":
    README.write_text(rendered(README.read_text()))
