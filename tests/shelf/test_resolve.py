"""From typed words to a path; a mistake is a sentence with the nearest names, and no network is asked."""

import socket

import pytest

from tests.checkpoint.malformed import whole
from tests.checkpoint.malformed_sets import hub_cache
from workbench.errors import CheckpointError
from workbench.shelf import synthetic
from workbench.shelf.resolve import resolve


@pytest.fixture
def cache(tmp_path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return tmp_path / "hub"


@pytest.fixture
def models(tmp_path):
    for name in ("acme/tiny-4bit", "zoo/big"):
        root = tmp_path / "models" / name
        root.mkdir(parents=True)
        whole(root)
    return tmp_path / "models"


def refused(text, *arguments, cache):
    with pytest.raises(CheckpointError) as error:
        resolve(text, *arguments, cache=cache)
    return error.value


def test_paths_come_first_and_become_absolute(models, cache, monkeypatch):
    monkeypatch.chdir(models)
    monkeypatch.setenv("HOME", str(models))
    expected = models / "acme" / "tiny-4bit"
    for text in ("acme/tiny-4bit", "./acme/tiny-4bit", str(expected), "~/acme/tiny-4bit"):
        assert resolve(text, cache=cache) == expected
    assert resolve("acme/tiny-4bit/model.safetensors", cache=cache) == expected / "model.safetensors"


def test_a_synthetic_name_is_known_before_it_is_built(cache):
    name = synthetic.NAMES[0]
    for text in (f"synthetic/{name}", f"synthetic/{name}/"):
        assert resolve(text, cache=cache) == synthetic.path_of(name)
    error = refused("synthetic/none", cache=cache)
    assert name in error.hint


def test_a_cached_repository_by_its_name_revision_or_last_word(cache):
    snapshot = hub_cache(cache, broken=False)
    for text in ("acme/tiny", "acme/tiny@c0ffee", "acme/tiny@main", "tiny", "TINY"):
        assert resolve(text, cache=cache) == snapshot
    assert refused("acme/tiny@dead", cache=cache).code == "checkpoint_missing"


def test_a_last_word_that_two_repositories_share_must_be_made_clear(cache):
    hub_cache(cache, broken=False)
    other = cache / "models--zoo--tiny" / "snapshots" / ("a" * 40)
    other.mkdir(parents=True)
    whole(other)
    error = refused("tiny", cache=cache)
    assert error.code == "checkpoint_ambiguous"
    assert "acme/tiny, zoo/tiny" in error.hint


def test_a_checkpoint_below_a_models_directory_by_its_name(models, cache):
    assert resolve("zoo/big", [models], cache=cache) == models / "zoo" / "big"
    assert resolve("big", [models], cache=cache) == models / "zoo" / "big"


@pytest.mark.parametrize(
    "text",
    [
        "./acme/tiny-4bti",
        "../nothing",
        "~/nothing",
        "/no/such/path",
        "a/b/c",
        "weights.safetensors",
        "acme/x.gguf",
        "with space",
        "C:\\models\\x",
        "line\nbreak",
        "",
        "~nobody-here/x",
        "x" * 5000,
        "a\0b",
    ],
)
def test_a_mistyped_path_is_an_error_and_never_a_download(text, models, cache, monkeypatch):
    monkeypatch.chdir(models)
    error = refused(text, [models], cache=cache)
    assert error.code == "checkpoint_missing"
    assert "hf download" not in error.hint
    assert "\n" not in error.message and len(error.message) < 400


def test_only_what_is_called_alike_is_proposed_for_a_mistyped_path(models, cache):
    (models / "acme" / ".cache").mkdir()
    assert "Did you mean" not in refused(f"{models}/acme/x", cache=cache).hint
    assert f"Did you mean {models}/acme/tiny-4bit?" in refused(f"{models}/acme/tiny-8bit", cache=cache).hint


def test_a_typing_error_below_a_folder_that_exists_is_a_path(models, cache, monkeypatch):
    monkeypatch.chdir(models)
    error = refused("acme/tiny-4bti", [], cache=cache)
    assert "no such file or directory" in error.message
    assert "acme/tiny-4bit" in error.hint


def test_an_unknown_repository_says_how_to_get_it_and_what_is_near(models, cache):
    hub_cache(cache, broken=False)
    error = refused("acme/tyni", [models], cache=cache)
    assert "Did you mean acme/tiny" in error.hint
    assert "`hf download acme/tyni`" in error.hint
    assert "hf download" not in refused("unknown-name", [models], cache=cache).hint
