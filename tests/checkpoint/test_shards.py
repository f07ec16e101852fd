"""Which files count, decided by their names and the index's alone."""

import pytest

from workbench.checkpoint.index import escapes
from workbench.checkpoint.shards import choose, is_adapter, is_loaded, shard_of


def names(total, *numbers, stem="model"):
    return [f"{stem}-{number:05d}-of-{total:05d}.safetensors" for number in numbers or range(1, total + 1)]


def codes(choice):
    return [finding.code for finding in choice.findings]


def test_one_file_counts():
    choice = choose(["model.safetensors"])
    assert (choice.counted, choice.beside, choice.missing) == (["model.safetensors"], {}, [])


def test_only_what_mlx_lm_globs_counts_and_the_rest_has_a_reason():
    beside = ["consolidated.safetensors", "adapters.safetensors", "._model.safetensors", "vision.safetensors"]
    choice = choose(["model.safetensors", *beside])
    assert choice.counted == ["model.safetensors"]
    assert set(choice.beside) == set(beside) and all(choice.beside.values())
    assert "AppleDouble" in choice.beside["._model.safetensors"]
    assert "--adapter-path" in choice.beside["adapters.safetensors"]


@pytest.mark.parametrize("total", [1, 2, 40])
def test_a_complete_set_counts_without_an_index(total):
    choice = choose(names(total))
    assert (choice.counted, choice.missing) == (names(total), [])


def test_the_missing_shards_are_named_from_the_numbers():
    choice = choose(names(5, 1, 3, 4))
    assert choice.missing == names(5, 2, 5)
    assert choice.expected == 5


def test_sets_that_count_from_zero_are_complete_too():
    zero_based = names(3, 0, 1, 2)
    assert choose(zero_based).missing == []
    assert choose(zero_based[:2]).missing == names(3, 2)


def test_without_an_index_the_complete_set_wins_over_a_stale_rest():
    choice = choose([*names(3), *names(7, 1, 4)])
    assert choice.counted == names(3)
    assert set(choice.beside) == set(names(7, 1, 4))
    assert codes(choice) == ["stale_shards"]


def test_without_an_index_and_two_complete_sets_both_are_read_and_it_is_said():
    choice = choose([*names(2), *names(3)])
    assert choice.counted == sorted([*names(2), *names(3)])
    assert codes(choice) == ["several_shard_sets"]


def test_the_index_chooses_between_two_complete_sets():
    choice = choose([*names(2), *names(3)], names(2))
    assert (choice.counted, set(choice.beside)) == (names(2), set(names(3)))
    assert codes(choice) == ["stale_shards"]


def test_a_file_that_the_index_does_not_name_but_mlx_lm_loads_is_extra():
    choice = choose([*names(2), "model.safetensors", "model-mtp.safetensors"], names(2))
    assert choice.counted == names(2)
    assert choice.extra == ["model-mtp.safetensors", "model.safetensors"]


def test_a_file_that_only_the_index_names_is_not_loaded_by_mlx_lm():
    choice = choose([*names(2), "mtp.safetensors"], [*names(2), "mtp.safetensors"])
    assert "the index names it" in choice.beside["mtp.safetensors"]
    assert choice.missing == []


def test_vendor_layouts_are_counted_where_nothing_else_is_there():
    assert choose(["consolidated.safetensors"]).counted == ["consolidated.safetensors"]
    parts = names(2, stem="pytorch_model")
    assert choose(parts).counted == parts
    weights = ["weights.00.safetensors", "weights.01.safetensors", "other.safetensors"]
    assert choose(weights, weights[:2]).counted == weights[:2]


def test_an_adapter_alone_is_no_base_model():
    assert choose(["adapter_model.safetensors", "0000100_adapters.safetensors"]).counted == []


def test_an_index_whose_files_are_all_gone_leaves_them_missing():
    choice = choose([], names(2))
    assert (choice.counted, choice.missing) == ([], names(2))


def test_sets_of_different_stems_do_not_compete():
    both = [*names(2), *names(3, stem="model-vision")]
    choice = choose(both)
    assert (choice.counted, choice.missing) == (sorted(both), [])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model-00001-of-00004.safetensors", ("model", 4)),
        ("model.safetensors-1-of-2.safetensors", ("model.safetensors", 2)),
        ("model-00001-of-00000.safetensors", None),
        ("model-00001-of-999999999.safetensors", None),
        ("model.safetensors", None),
    ],
)
def test_shard_names_are_taken_apart(name, expected):
    shard = shard_of(name)
    assert (shard.set if shard else None) == expected


def test_the_loaded_pattern_is_mlx_lms():
    assert is_loaded("model.safetensors") and is_loaded("model_x.safetensors")
    assert not is_loaded("Model.safetensors") and not is_loaded("._model.safetensors")
    assert is_adapter("adapters.safetensors") and not is_adapter("model.safetensors")


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "/etc/passwd", "\\\\host\\x", "C:\\x", "a\0b", "", ".."]
)
def test_names_that_leave_the_directory_are_seen(name):
    assert escapes(name)


@pytest.mark.parametrize("name", ["model.safetensors", "sub/model.safetensors", "a..b.safetensors"])
def test_names_that_stay_are_let_through(name):
    assert not escapes(name)
