"""Which model types mlx-lm has, asked of its files and not of its modules."""

import importlib
import sys
from pathlib import Path

import pytest

from tests.checkpoint.malformed import CONFIG, whole
from workbench.checkpoint.checkpoint import State
from workbench.shelf import supported
from workbench.shelf.supported import Types, installed_types, module_of, open_for_mlx_lm, unsupported

UTILS = """
import mlx.core as mx
MODEL_REMAPPING = {"mistral": "llama", "old": "gone"}
MODEL_ARCHITECTURE_REMAPPING = {("hybrid", "V3ForCausalLM"): "hybrid_v3"}
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An mlx_lm of three model types, found before the installed one, that must not be imported."""
    root = tmp_path / "site" / "mlx_lm"
    (root / "models").mkdir(parents=True)
    (root / "__init__.py").write_text("raise AssertionError('mlx_lm was imported')")
    (root / "utils.py").write_text(UTILS)
    for name in ("llama", "hybrid", "hybrid_v3"):
        (root / "models" / f"{name}.py").touch()
    monkeypatch.syspath_prepend(str(root.parent))
    monkeypatch.delitem(sys.modules, "mlx_lm", raising=False)
    importlib.invalidate_caches()
    installed_types.cache_clear()
    yield root
    installed_types.cache_clear()


def test_types_and_both_tables_are_read_without_an_import(package):
    types = installed_types()
    assert types.modules == {"llama", "hybrid", "hybrid_v3"}
    assert unsupported({"model_type": "llama"}) is None
    assert unsupported({"model_type": "mistral"}) is None
    assert "'qwen9'" in unsupported({"model_type": "qwen9"})
    assert "'old'" in unsupported({"model_type": "old"})


@pytest.mark.parametrize(
    ("config", "module"),
    [
        ({"model_type": "hybrid"}, "hybrid"),
        ({"model_type": "hybrid", "architectures": ["X", "V3ForCausalLM"]}, "hybrid_v3"),
        ({"model_type": "hybrid", "architectures": "V3ForCausalLM"}, "hybrid_v3"),
        ({"model_type": "hybrid", "architectures": [5, None]}, "hybrid"),
        ({"model_type": "hybrid", "architectures": None}, "hybrid"),
        ({"model_type": "hybrid", "architectures": 5}, "hybrid"),
        ({"model_type": "hybrid", "architectures": {"V3ForCausalLM": True}}, "hybrid"),
        ({"model_type": "mistral"}, "llama"),
    ],
)
def test_a_config_leads_to_the_module_that_mlx_lm_would_import(config, module):
    types = Types(frozenset(), {"mistral": "llama"}, {("hybrid", "V3ForCausalLM"): "hybrid_v3"})
    assert module_of(config, types) == module


@pytest.mark.parametrize("utils", ["MODEL_REMAPPING = dict(a=1)", "x = (", "OTHER = {}", None])
def test_tables_that_cannot_be_read_make_no_claim(package, utils):
    if utils is None:
        (package / "utils.py").unlink()
    else:
        (package / "utils.py").write_text(utils)
    assert installed_types() is None
    assert unsupported({"model_type": "qwen9"}) is None


def test_without_mlx_lm_nobody_can_tell(monkeypatch):
    monkeypatch.setattr(supported.importlib.util, "find_spec", lambda _name: None)
    installed_types.cache_clear()
    assert unsupported({"model_type": "qwen9"}) is None
    installed_types.cache_clear()


def test_the_installed_mlx_lm_agrees_with_its_own_tables():
    types = installed_types()
    if types is None:
        pytest.skip("mlx-lm is not installed")
    source = Path(importlib.util.find_spec("mlx_lm").submodule_search_locations[0])
    assert (source / "models" / "llama.py").exists() and "llama" in types.modules
    assert set(types.by_type.values()) <= types.modules
    assert unsupported({"model_type": "llama"}) is None


def test_a_complete_checkpoint_of_an_unknown_type_is_not_loadable_with_a_finding(package, tmp_path):
    root = tmp_path / "model"
    root.mkdir()
    whole(root, config=CONFIG | {"model_type": "qwen9"})
    found = open_for_mlx_lm(root)
    assert found.state is State.NOT_LOADABLE
    assert [finding.code for finding in found.findings] == ["model_type_unsupported"]
    whole(root, config=CONFIG)
    assert open_for_mlx_lm(root).state is State.COMPLETE
