"""How the tests call commands: in this process, with a home of their own and the tiny checkpoints in it."""

import json
from dataclasses import dataclass

import pytest

from tests.checkpoints import materialize
from workbench.cli import main


@dataclass(frozen=True)
class Spoken:
    """What a command said: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """stdout as the one JSON line that it must be."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1
        return json.loads(self.out)


@pytest.fixture
def run(capsys):
    """`run("bytes", path, "--json")`: a command as the shell calls it, without a process of its own."""

    def call(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Spoken(int(code), *capsys.readouterr())

    return call


@pytest.fixture
def shelf(home, tiny):
    """The tiny checkpoints where the program builds synthetic ones: `synthetic/tiny-1` names one."""
    folder = home / "cache" / "synthetic"
    folder.mkdir(parents=True)
    for name, path in tiny.items():
        (folder / name).symlink_to(path)
    return folder


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """`published("mlx-Qwen3.5-9B-4bit")`: the path of a published checkpoint's headers in sparse files."""
    folder = tmp_path_factory.mktemp("published")
    made = {}

    def path_of(name):
        if name not in made:
            made[name] = materialize(name, folder)
        return made[name]

    return path_of
