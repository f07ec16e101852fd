"""The Hugging Face cache: every snapshot is seen, the broken ones too, and nothing goes to the network."""

import os
import subprocess
import sys

import pytest

from tests.checkpoint.malformed import whole
from tests.checkpoint.malformed_sets import hub_cache, shards
from workbench.shelf.cache import cache_location, find_snapshot, repositories, repository_of, snapshots


def add(cache, repository, revision, *, refs=(), age_s=0, broken=False):
    """One more snapshot of a good checkpoint."""
    folder = cache / ("models--" + repository.replace("/", "--"))
    snapshot = folder / "snapshots" / revision
    snapshot.mkdir(parents=True)
    whole(snapshot)
    if broken:
        (snapshot / "model-extra.safetensors").symlink_to(folder / "blobs" / "gone")
    for ref in refs:
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "refs" / ref).write_text(revision)
    for path in (*snapshot.iterdir(), snapshot):
        when = 1_700_000_000 - age_s
        os.utime(path, (when, when), follow_symlinks=False)
    return snapshot


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}, "/a"),
        ({"HUGGINGFACE_HUB_CACHE": "/a"}, "/a"),
        ({"HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/huggingface/hub"),
    ],
)
def test_the_cache_is_where_huggingface_hub_has_it(environment, expected):
    assert cache_location(environment).as_posix() == expected


def test_the_rule_for_the_location_is_huggingface_hubs_own(tmp_path, monkeypatch):
    for variables in ({"HF_HOME": str(tmp_path)}, {"HF_HUB_CACHE": str(tmp_path / "x")}, {}):
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), **variables}
        code = "import huggingface_hub.constants as c; print(c.HF_HUB_CACHE)"
        theirs = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        monkeypatch.setenv("HOME", environment["HOME"])
        assert cache_location(environment).as_posix() == theirs.stdout.strip()


def test_every_snapshot_is_listed_the_newest_of_a_repository_first(tmp_path):
    old = add(tmp_path, "acme/tiny", "a" * 40, age_s=100)
    new = add(tmp_path, "acme/tiny", "b" * 40, refs=["main"])
    other = add(tmp_path, "zoo/big", "c" * 40)
    (tmp_path / "datasets--acme--texts" / "snapshots" / ("d" * 40)).mkdir(parents=True)
    (tmp_path / "version.txt").write_text("1")
    found = list(snapshots(tmp_path))
    assert [(s.repository, s.path, s.refs) for s in found] == [
        ("acme/tiny", new, ("main",)),
        ("acme/tiny", old, ()),
        ("zoo/big", other, ()),
    ]


def test_a_repository_that_huggingface_hub_gives_up_on_is_listed_all_the_same(tmp_path):
    broken = add(tmp_path, "acme/broken", "a" * 40, refs=["main"], broken=True)
    whole_one = add(tmp_path, "acme/whole", "b" * 40)
    assert [s.path for s in snapshots(tmp_path)] == [broken, whole_one]


def test_a_snapshot_of_links_with_one_blob_missing_is_listed(tmp_path):
    snapshot = hub_cache(tmp_path, broken=True)
    (found,) = snapshots(tmp_path)
    assert (found.repository, found.path, found.refs) == ("acme/tiny", snapshot, ("main",))


def test_without_huggingface_hub_the_cache_is_listed_too(tmp_path, monkeypatch):
    snapshot = add(tmp_path, "acme/tiny", "a" * 40, refs=["main"])
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert [(s.path, s.refs) for s in snapshots(tmp_path)] == [(snapshot, ("main",))]


def test_a_machine_without_a_cache_has_no_snapshots(tmp_path):
    assert list(snapshots(tmp_path / "none")) == []
    assert repositories(tmp_path / "none") == []
    (tmp_path / "models--a--b").mkdir()
    assert list(snapshots(tmp_path)) == []


def test_a_repository_means_its_main_branch_or_the_newest_snapshot(tmp_path):
    main = add(tmp_path, "acme/tiny", "a" * 40, refs=["main", "v1"], age_s=100)
    new = add(tmp_path, "acme/tiny", "b" * 40)
    loose = add(tmp_path, "acme/loose", "c" * 40)
    assert find_snapshot(tmp_path, "acme/tiny").path == main
    assert find_snapshot(tmp_path, "acme/tiny", "v1").path == main
    assert find_snapshot(tmp_path, "acme/tiny", "bbbb").path == new
    assert find_snapshot(tmp_path, "acme/loose").path == loose
    assert find_snapshot(tmp_path, "acme/tiny", "nope") is None
    assert find_snapshot(tmp_path, "acme/none") is None
    assert repositories(tmp_path) == ["acme/loose", "acme/tiny"]


def test_repository_names_with_dashes_come_back_whole():
    assert repository_of("models--org--a-b--c") == "org/a-b--c"


def test_partial_shards_are_not_hidden_by_the_scan(tmp_path):
    snapshot = tmp_path / "models--acme--half" / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    shards(snapshot, 1, total=2)
    assert [s.repository for s in snapshots(tmp_path)] == ["acme/half"]
