"""Checkpoints below named directories, in any nesting, without end where links loop."""

import os

from tests.checkpoint.malformed import whole
from tests.checkpoint.malformed_gguf import GGUF_KV, GGUF_TENSOR
from tests.checkpoint.malformed_sets import hub_cache
from tests.checkpoints import write_gguf
from workbench.shelf import directories
from workbench.shelf.directories import places


def make(path, config=True):
    path.mkdir(parents=True)
    whole(path)
    if not config:
        (path / "config.json").unlink()


def names(directory):
    return [place.name for place in places(directory)]


def test_lm_studios_publisher_and_model_layout(tmp_path):
    make(tmp_path / "mlx-community" / "Tiny-4bit")
    (tmp_path / "lmstudio" / "Tiny-GGUF").mkdir(parents=True)
    for name in ("tiny-q4.gguf", "mmproj-tiny.gguf"):
        write_gguf(tmp_path / "lmstudio" / "Tiny-GGUF" / name, GGUF_KV, [GGUF_TENSOR])
    found = list(places(tmp_path))
    assert [place.name for place in found] == ["lmstudio/Tiny-GGUF", "mlx-community/Tiny-4bit"]
    assert found[0].path.name == "tiny-q4.gguf"


def test_each_gguf_model_of_a_folder_is_one_place_and_a_split_one_is_one_too(tmp_path):
    for name in ("q4.gguf", "q8.gguf", "big-00001-of-00002.gguf", "big-00002-of-00002.gguf"):
        write_gguf(tmp_path / name, GGUF_KV, [GGUF_TENSOR])
    assert [place.path.name for place in places(tmp_path)] == [
        "big-00001-of-00002.gguf",
        "q4.gguf",
        "q8.gguf",
    ]


def test_loose_files_at_the_top_do_not_hide_what_lies_deeper(tmp_path):
    write_gguf(tmp_path / "loose.gguf", GGUF_KV, [GGUF_TENSOR])
    make(tmp_path / "publisher" / "model")
    assert names(tmp_path) == [tmp_path.name, "publisher/model"]


def test_a_checkpoint_is_not_searched_further(tmp_path):
    make(tmp_path / "model")
    make(tmp_path / "model" / "original")
    assert names(tmp_path) == ["model"]


def test_the_named_directory_may_be_a_checkpoint_itself(tmp_path):
    make(tmp_path / "model")
    assert names(tmp_path / "model") == ["model"]


def test_pickles_and_broken_sets_are_places_but_bare_configs_are_not(tmp_path):
    for name, file in [
        ("old", "pytorch_model.bin"),
        ("half", "model.safetensors.index.json"),
        ("bare", "x.txt"),
    ]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / file).write_text("{}")
    assert names(tmp_path) == ["half", "old"]


def test_links_that_loop_end(tmp_path):
    make(tmp_path / "a" / "model")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to(tmp_path / "a" / "self")
    (tmp_path / "again").symlink_to(tmp_path / "a")
    assert names(tmp_path) == ["a/model"]


def test_linked_models_are_found(tmp_path):
    make(tmp_path / "elsewhere" / "model")
    root = tmp_path / "models"
    root.mkdir()
    (root / "linked").symlink_to(tmp_path / "elsewhere" / "model")
    assert names(root) == ["linked"]


def test_the_search_ends_at_its_depth(tmp_path):
    deep = tmp_path.joinpath(*"abcdefgh")
    make(deep)
    assert names(tmp_path) == []
    assert names(tmp_path / "a" / "b") == ["c/d/e/f/g/h"]


def test_the_search_ends_after_so_many_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(directories, "FOLDER_LIMIT", 5)
    for number in range(20):
        make(tmp_path / f"{number:02d}")
    assert names(tmp_path) == ["00", "01", "02", "03"]


def test_a_diffusion_pipeline_is_passed_over(tmp_path):
    (tmp_path / "pipe").mkdir()
    (tmp_path / "pipe" / "model_index.json").write_text("{}")
    make(tmp_path / "pipe" / "text_encoder")
    assert names(tmp_path) == []


def test_a_hub_cache_given_as_a_directory_keeps_its_names(tmp_path):
    snapshot = hub_cache(tmp_path, broken=False)
    (place,) = places(tmp_path)
    assert (place.name, place.path, place.revision) == ("acme/tiny", snapshot, snapshot.name)


def test_folders_that_may_not_be_read_and_fifos_are_passed_over(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    make(tmp_path / "model")
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "none") == []
    assert names(tmp_path / "fifo") == []


def test_places_come_one_by_one(tmp_path, monkeypatch):
    make(tmp_path / "a")
    make(tmp_path / "b")
    listed = []
    real = directories.list_directory
    monkeypatch.setattr(directories, "list_directory", lambda path: listed.append(path.name) or real(path))
    search = places(tmp_path)
    assert next(search).name == "a"
    assert "b" not in listed
