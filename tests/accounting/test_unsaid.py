"""What the count fills in for a config.json that is silent, held against the mlx-lm that is installed."""

import importlib
from dataclasses import MISSING, fields

import pytest

from workbench.accounting.unsaid import UNSAID

LISTED = {"gpt_oss", "muse_glimmer", "olmo3"}
"""These write the pattern as a list of layer types when they are made."""
WRAPPERS = {"gemma3": "gemma3_text", "gemma4": "gemma4_text"}


@pytest.mark.parametrize("model_type", sorted(UNSAID))
def test_a_key_that_is_filled_in_has_mlx_lms_own_default(model_type):
    inner = WRAPPERS.get(model_type, model_type)
    assert UNSAID[model_type] == UNSAID[inner]
    arguments = importlib.import_module(f"mlx_lm.models.{inner}").ModelArgs
    defaults = {field.name: field.default for field in fields(arguments)}
    for key, value in UNSAID[model_type].items():
        if key in defaults:
            assert defaults[key] == value
        else:
            assert key == "sliding_window_pattern" and inner in LISTED


def test_a_pattern_without_a_field_is_the_list_that_mlx_lm_makes():
    from mlx_lm.models import muse_glimmer, olmo3

    for module in (muse_glimmer, olmo3):
        made = object.__new__(module.ModelArgs)
        for field in fields(made):
            setattr(made, field.name, None if field.default is MISSING else field.default)
        made.num_hidden_layers, made.num_attention_heads = 9, 1
        made.__post_init__()
        every = UNSAID[module.__name__.rpartition(".")[2]]["sliding_window_pattern"]
        assert [kind == "full_attention" for kind in made.layer_types] == [
            (index + 1) % every == 0 for index in range(9)
        ]
