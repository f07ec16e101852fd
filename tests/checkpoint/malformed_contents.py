"""Good files with tricky contents: configurations that mislead, and names that need a rule."""

from pathlib import Path
from typing import Any

from tests.checkpoint.malformed import CONFIG, EXPERTS, MOE, TENSORS, case, whole


@case
def config_missing(root):
    whole(root, config=None)


@case
def config_invalid(root):
    whole(root, config='{"model_type":"llama", "vocab_size": 1 0}')


def mixture(root: Path, **changes: Any) -> None:
    """A mixture of 8 stacked experts; keys set to None are left out of its config."""
    config = {key: value for key, value in (MOE | changes).items() if value is not None}
    whole(root, (*TENSORS, *EXPERTS), config)


@case
def experts_zero(root):
    mixture(root, num_experts=0, num_experts_per_tok=None)


@case
def k_gt_e(root):
    mixture(root, num_experts_per_tok=12)


@case
def k_missing(root):
    mixture(root, num_experts_per_tok=None)


@case
def n_routed_experts(root):
    mixture(root, num_experts=None, n_routed_experts=8)


@case
def top_k_experts(root):
    mixture(root, num_experts_per_tok=None, top_k_experts=2)


@case
def tied_with_head(root):
    whole(root, config=CONFIG | {"tie_word_embeddings": True})


@case
def tie_conflict(root):
    whole(root, config=CONFIG | {"text_config": {"tie_word_embeddings": True, "num_hidden_layers": 1}})


@case
def unknown_name(root):
    whole(root, (*TENSORS, ("model.mystery", "BF16", [64, 64])))


@case
def modality_names(root):
    parts = [
        "multi_modal_projector.linear",
        "audio_tower.conv",
        "embed_audio.proj",
        "aligner.fc1",
        "patch_merge_mlp.fc",
    ]
    whole(root, (*TENSORS, *((f"{part}.weight", "BF16", [64, 64]) for part in parts)))


@case
def embed_names(root):
    whole(root, (("transformer.wte.weight", "BF16", [100, 64]), *TENSORS[1:]))


@case
def ple(root):
    tables = (("model.embed_tokens_per_layer.weight", "BF16", [100, 64]),)
    whole(root, (*TENSORS[:3], *tables), CONFIG | {"model_type": "gemma3n", "tie_word_embeddings": True})


@case
def mtp(root):
    extra = (("mtp.fc.weight", "BF16", [64, 64]), ("model.layers.1.mlp.down_proj.weight", "BF16", [32, 128]))
    whole(root, (*TENSORS, *extra), CONFIG | {"num_nextn_predict_layers": 1})


HOSTILE = (
    "model.\x1b[31mred\x1b[0m.weight",
    "model.new\nline.weight",
    "model.[bold red]rich[/].weight",
    "model.\u202ebidi.weight",
    "model." + "x" * 5000,
    "",
)


@case
def hostile_names(root):
    whole(root, (*TENSORS, *((name, "BF16", [8]) for name in HOSTILE)))
