"""Tensors that mlx-lm unpacks, splits or copies when it loads them: the witness counts bytes of the file."""

import pytest

from tests.checkpoints import checkpoint
from tests.witness.looking import look, saved_by_mlx_lm
from workbench.accounting.engine import count
from workbench.errors import WorkerError
from workbench.witness.agreement import Status, compare

HIDDEN, WIDE, WORDS, GROUP = 128, 256, 512, 64
LLAMA = {
    "model_type": "llama", "hidden_size": HIDDEN, "num_hidden_layers": 2, "intermediate_size": WIDE,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": WORDS, "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
}  # fmt: skip
AWQ = {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": GROUP, "zero_point": True}}


def awq():
    """A llama in AutoAWQ's layout: packed weights and zeros, [in, out / 8], and scales."""
    tensors = {}
    for tensor in saved_by_mlx_lm(LLAMA).tensors:
        module, _, last = tensor.name.rpartition(".")
        if "_proj" not in module:
            tensors[tensor.name] = ("F16", tensor.shape)
            continue
        assert last == "weight"
        out, into = tensor.shape
        tensors[f"{module}.qweight"] = ("I32", [into, out // 8])
        tensors[f"{module}.qzeros"] = ("I32", [into // GROUP, out // 8])
        tensors[f"{module}.scales"] = ("F16", [into // GROUP, out])
    return checkpoint(tensors, LLAMA | AWQ)


def test_awq_weights_are_read_once_and_take_more_room_than_on_disk():
    found = awq()
    counted, reading = count(found), look(found)[0]
    agreement = compare(counted, reading)
    assert (agreement.status, agreement.disagreements) == (Status.AGREES, ())
    assert reading.resident_bytes == counted.resident_bytes > found.disk_bytes
    assert {read.kind for read in reading.reads} == {"full", "lookup"}


def test_a_table_that_becomes_table_and_head_is_read_once_and_held_once():
    minicpm = {**LLAMA, "model_type": "minicpm", "dim_model_base": 64, "scale_depth": 1.4, "scale_emb": 12}
    saved = saved_by_mlx_lm(minicpm)
    tied = checkpoint(
        {t.name: (t.dtype, t.shape) for t in saved.tensors if t.name != "lm_head.weight"}, saved.config
    )
    reading = look(tied)[0]
    table = next(read for read in reading.reads if read.name == "model.embed_tokens.weight")
    assert (table.kind, table.weight_bytes, table.lookup_bytes) == ("full", WORDS * HIDDEN * 4, 0)
    assert reading.resident_bytes == tied.disk_bytes


def test_a_checkpoint_without_tensors_is_incomplete():
    with pytest.raises(WorkerError) as failure:
        look(checkpoint({}, LLAMA))
    assert failure.value.code == "incomplete"
