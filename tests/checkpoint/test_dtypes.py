"""What a value takes in each stored type, and which type a checkpoint is mostly stored in."""

import pytest

from workbench.checkpoint.checkpoint import Tensor
from workbench.checkpoint.dtypes import bits_per_value, matrix_dtypes


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [("F32", 32), ("BF16", 16), ("F8_E4M3", 8), ("F4", 4), ("Q8_0", 8.5), ("Q4_K", 4.5), ("MXFP4", 4.25)],
)
def test_a_types_bits_hold_its_share_of_the_scales(dtype, bits):
    assert bits_per_value(dtype) == bits


def test_an_unknown_type_has_no_bits():
    assert bits_per_value("X9") is None


def test_the_type_with_most_bytes_comes_first_and_vectors_do_not_count():
    tensors = [
        Tensor("a", "F32", (10, 10), 400, 0),
        Tensor("b", "BF16", (100, 10), 2000, 0),
        Tensor("norm", "F64", (1_000_000,), 8_000_000, 0),
    ]
    assert matrix_dtypes(tensors) == ["BF16", "F32"]
    assert matrix_dtypes([]) == []
