"""The house keeps its shape: who may import whom, how large a room's file gets, what the public words say."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*(ROOT / "workbench").rglob("*.py"), *(ROOT / "widgets").rglob("*.py")])
LINES = 400


def modules_after(code: str) -> set[str]:
    """Top-level names of what a fresh interpreter has imported after running `code`."""
    script = f"import sys\n{code}\nprint(' '.join(sorted({{m.split('.')[0] for m in sys.modules}})))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.splitlines()[-1].split())


def test_help_imports_neither_textual_nor_mlx_nor_any_heavy_library():
    loaded = modules_after("from workbench.cli import main; main(['--help'])")
    assert not loaded & {
        "textual",
        "rich",
        "mlx",
        "mlx_lm",
        "transformers",
        "numpy",
        "huggingface_hub",
        "msgspec",
    }


@pytest.mark.parametrize("room", ["workbench.checkpoint.reading", "workbench.accounting.engine"])
def test_reading_and_counting_import_the_standard_library_only(room):
    loaded = modules_after(f"import {room}")
    foreign = {m for m in loaded if m not in sys.stdlib_module_names and not m.startswith("_")}
    assert foreign - modules_after("pass") <= {"workbench"}


def test_the_screens_import_neither_mlx_nor_transformers():
    loaded = modules_after("import workbench.tui.app")
    assert "textual" in loaded
    assert not loaded & {"mlx", "mlx_lm", "transformers", "numpy"}


def test_the_protocol_runs_without_textual_or_mlx():
    loaded = modules_after("import workbench.protocol.steps")
    assert not loaded & {"textual", "rich", "mlx", "mlx_lm", "transformers"}


def test_a_file_has_one_subject():
    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: count for name, count in lines.items() if count > LINES} == {}


def test_a_module_says_what_it_is_for():
    silent = [str(p.relative_to(ROOT)) for p in SOURCES if not ast.get_docstring(ast.parse(p.read_text()))]
    assert silent == []


def test_names_say_what_a_thing_is_not_that_it_is_a_thing():
    empty = re.compile(r"class \w*(Manager|Helper|Utils?|Handler)\b")
    guilty = [str(p.relative_to(ROOT)) for p in SOURCES if empty.search(p.read_text())]
    assert guilty == []


def test_ci_calls_exactly_the_readme_test_command():
    readme = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)\n```", readme, re.S)
    tests = [block for block in blocks if "pytest" in block]
    assert len(tests) == 1
    assert tests[0].strip() in (ROOT / ".ci" / "run").read_text()


def test_nothing_tracked_names_a_machine_path_or_a_registry():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    words = re.compile("/" + "work/|py" + "pi\\.org|python" + "hosted|/" + "root/")
    text = [
        ROOT / name for name in tracked if Path(name).suffix in {".py", ".md", ".toml", ".yaml", ".tcss", ""}
    ]
    guilty = [
        str(p.relative_to(ROOT)) for p in text if p.is_file() and words.search(p.read_text(errors="ignore"))
    ]
    assert guilty == []
