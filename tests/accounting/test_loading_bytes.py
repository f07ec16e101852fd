"""Resident bytes: what mlx-lm's loader makes of what is stored.

The rules were held against mlx-lm 0.32.2's own sanitize with lazy arrays: equal to the byte for all 37.
"""

import json
import lzma
from pathlib import Path

import pytest

from tests.checkpoints import checkpoint, in_memory
from workbench.accounting.engine import count

DATA = Path(__file__).parents[1] / "data"
MODEL = {"model.embed_tokens.weight": ("BF16", [512, 64]), "lm_head.weight": ("BF16", [512, 64])}
VOCABULARY = 2 * 512 * 64 * 2


def said(tensors, quantization):
    named = {f"model.layers.0.mlp.up_proj.{name}": entry for name, entry in tensors.items()}
    found = count(checkpoint(MODEL | named, {"vocab_size": 512, "quantization_config": quantization}))
    (finding,) = found.findings
    return finding.message


def resident(tensors, quantization):
    named = {f"model.layers.0.mlp.up_proj.{name}": entry for name, entry in tensors.items()}
    found = count(checkpoint(MODEL | named, {"vocab_size": 512, "quantization_config": quantization}))
    return found.resident_bytes - VOCABULARY, [finding.code for finding in found.findings]


def test_fp8_with_block_scales_is_widened_to_bf16_and_loses_its_scales():
    stored = {"weight": ("F8_E4M3", [256, 128]), "weight_scale_inv": ("F32", [2, 1])}
    assert resident(stored, {"quant_method": "fp8"}) == (2 * 256 * 128, ["changed_on_load"])


@pytest.mark.parametrize(
    "quantization",
    [{"quant_method": "mxfp8"}, {"quant_method": "fp8", "scale_fmt": "ue8m0", "weight_block_size": [32, 32]}],
)
def test_mxfp8_stays_packed(quantization):
    stored = {"weight": ("F8_E4M3", [256, 128]), "weight_scale_inv": ("U8", [256, 4])}
    assert resident(stored, quantization) == (256 * 128 + 256 * 4, [])


def test_awq_zeros_become_biases_of_sixteen_bits():
    stored = {"qweight": ("I32", [128, 32]), "qzeros": ("I32", [1, 32]), "scales": ("F16", [1, 256])}
    assert resident(stored, {"quant_method": "awq", "bits": 4})[0] == 128 * 32 * 4 + 2 * 256 * 2


def test_symmetric_int4_gets_biases_it_did_not_store():
    gptq = {"qweight": ("I32", [128, 32]), "scales": ("F16", [1, 256])}
    assert resident(gptq, {"quant_method": "gptq", "bits": 4})[0] == 128 * 32 * 4 + 2 * 256 * 2
    packed = {
        "weight_packed": ("I32", [256, 16]),
        "weight_scale": ("BF16", [256, 4]),
        "weight_shape": ("I64", [2]),
    }
    assert resident(packed, {"quant_method": "compressed-tensors"})[0] == 256 * 16 * 4 + 2 * 256 * 4 * 2


def test_what_is_kept_otherwise_than_stored_is_said_with_its_bytes_and_not_counted():
    # Head, packed weights, zeros and scales as stored; in memory the zeros are biases, four times as large.
    awq = {"qweight": ("I32", [128, 32]), "qzeros": ("I32", [2, 32]), "scales": ("F16", [2, 256])}
    message = said(awq, {"quant_method": "awq", "bits": 4})
    assert "each group of packed weights gets a 16-bit bias beside its scale" in message
    assert f"reads {VOCABULARY // 2 + 128 * 32 * 4 + 2 * 2 * 256 * 2:,} bytes" in message
    fp8 = {"weight": ("F8_E4M3", [256, 128]), "weight_scale_inv": ("F32", [2, 1])}
    assert "fp8 is widened to bf16" in said(fp8, {"quant_method": "fp8"})


@pytest.mark.parametrize("scales", [("BF16", [256, 2]), ("U8", [256, 4])])
def test_affine_and_mxfp4_weights_are_kept_as_they_are(scales):
    stored = {"weight": ("U32", [256, 16]), "scales": scales}
    assert resident(stored, {"bits": 4})[0] == 256 * 16 * 4 + 1024


def test_towers_drafts_and_dead_projections_are_not_loaded():
    found = count(in_memory("mlx-gemma-4-e4b-it-4bit"))
    dropped = sum(
        row.disk_bytes for row in found.rows if row.rule in {"vision-module", "audio-module", "dead-kv"}
    )
    assert dropped == 335_836_032 + 611_862_016 + 30_976_512
    assert found.resident_bytes == found.disk_bytes - dropped
    hugging_face = count(in_memory("hf-Qwen3.5-35B-A3B"))
    assert hugging_face.resident_bytes == hugging_face.disk_bytes - 893_142_496 - 1_689_281_536


def test_projections_that_nobody_reads_are_loaded_where_the_loader_drops_nothing():
    executed = json.loads(lzma.decompress((DATA / "truth" / "decode-reads.json.xz").read_bytes()))["gemma3n"]
    tensors = {name: ("F32", shape) for name, (_, shape, *_) in executed["tensors"].items()}
    found = count(checkpoint(tensors, executed["config"]))
    dead = [row for row in found.rows if row.rule == "dead-kv"]
    assert sum(row.resident_bytes for row in dead) == 131_328
    assert found.resident_bytes == found.disk_bytes == 8_208_128  # mlx-lm 0.32.2's parameters
    without_altup = {name: entry for name, entry in tensors.items() if "altup" not in name}
    found = count(checkpoint(without_altup, executed["config"]))
    assert {row.resident_bytes for row in found.rows if row.rule == "dead-kv"} == {0}


def test_a_577_gb_checkpoint_needs_a_terabyte_when_widened():
    found = count(in_memory("hf-DeepSeek-V3"))
    weights = found.disk_bytes - found.by_role["draft"].on_disk
    assert 1.9 < found.resident_bytes / weights < 2.0
    assert found.weight_bytes == 37_668_475_232
    assert "changed_on_load" in [finding.code for finding in found.findings]
