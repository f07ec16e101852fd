"""Why mlx-lm would not load a directory, as far as its files and config.json show.

After mlx_lm/utils.py (load_model, load_config) and tokenizer_utils.py of mlx-lm 0.32. Which model types the
installed mlx-lm knows is not asked here.
"""

import glob
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.checkpoint.checkpoint import Finding, Tensor
from workbench.checkpoint.files import kind_of
from workbench.checkpoint.listing import Listing
from workbench.checkpoint.shards import LOADED, is_loaded
from workbench.escape import visible

MLX_DTYPES = frozenset(
    "BOOL U8 I8 U16 I16 U32 I32 U64 I64 F16 BF16 F32 C64 F8_E4M3 F8_E8M0".split()  # noqa: SIM905
)
"""The dtypes that mx.load takes from safetensors (tried with mlx 0.32: every other one raises)."""

_TOKENIZERS = {
    "tokenizer.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json", "vocab.txt",
    "tekken.json", "tiktoken.model",
}  # fmt: skip

_READ_WHOLE = (".json", ".jinja", ".model", ".txt")
"""Endings of the files that mlx-lm and transformers open beside the weights."""

_NO_CONFIG = {"config_missing", "config_unreadable"}


def refusals(
    listing: Listing, config: Mapping[str, Any], tensors: Sequence[Tensor], findings: Sequence[Finding]
) -> list[Finding]:
    """Every reason known from the files, most basic first; [] where mlx-lm should load the directory."""
    reasons = [*_files(listing), *_weights(tensors, findings)]
    if without := [finding for finding in findings if finding.code in _NO_CONFIG]:
        reasons += without
    else:
        reasons += _config(config, findings)
    if not any(name in _TOKENIZERS or name.endswith(".tiktoken") for name in listing.names) and not any(
        name.startswith("tokenization_") for name in listing.names
    ):
        reasons.append(
            Finding("no_tokenizer", "no tokenizer here (tokenizer.json): mlx-lm cannot load the checkpoint")
        )
    return reasons


def _files(listing: Listing) -> list[Finding]:
    reasons = []
    loaded = [found for name, found in listing.safetensors.items() if is_loaded(name)]
    if not any(found.kind == "file" for found in loaded):
        reasons.append(Finding("not_named_model", f"no file is named {LOADED}: mlx-lm loads no other"))
    reasons += [
        _no_file(found.name, found.kind) for found in loaded if found.kind not in {"file", "broken link"}
    ]
    reasons += [_no_file(name, kind) for name, kind in _special_files(listing)]
    if _hidden_from_glob(listing.directory):
        reasons.append(
            Finding(
                "path_is_pattern",
                "the directory's path holds [, ] , * or ?, which mlx-lm takes for a pattern: rename it",
            )
        )
    return reasons


def _no_file(name: str, kind: str) -> Finding:
    text = f"{visible(name)} is {kind}: mlx-lm would open it and fail or hang; move it away"
    return Finding("not_a_regular_file", text)


def _special_files(listing: Listing) -> Iterator[tuple[str, str]]:
    """The FIFOs, sockets and devices that bear the name of a file to read; a folder is passed over."""
    for name in sorted(name for name in listing.names if name.endswith(_READ_WHOLE)):
        try:
            mode = (listing.directory / name).stat().st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            yield name, kind_of(mode)


def _hidden_from_glob(directory: Path) -> bool:
    """Whether glob.glob, which mlx-lm calls with the path as it is, would look elsewhere."""
    path = str(directory)
    return glob.has_magic(path) and glob.glob(path) != [path]  # noqa: PTH207


def _weights(tensors: Sequence[Tensor], findings: Sequence[Finding]) -> list[Finding]:
    reasons = []
    if foreign := {tensor.dtype for tensor in tensors} - MLX_DTYPES:
        names = ", ".join(visible(dtype, 40) for dtype in sorted(foreign)[:5])
        reasons.append(Finding("dtype_not_in_mlx", f"mlx cannot read tensors of dtype {names}"))
    if any(finding.code == "shape_mismatch" for finding in findings):
        reasons.append(Finding("shape_mismatch", "mlx refuses tensors whose offsets do not fit their shape"))
    return reasons


def _config(config: Mapping[str, Any], findings: Sequence[Finding]) -> list[Finding]:
    reasons = []
    if any(finding.code == "config_bom" for finding in findings):
        reasons.append(
            Finding("config_bom", "config.json begins with a byte order mark: save it without, for mlx-lm")
        )
    if not isinstance(config.get("model_type"), str):
        reasons.append(
            Finding("no_model_type", "config.json has no model_type: mlx-lm cannot tell the model")
        )
    if (custom := config.get("model_file")) is not None:
        reasons.append(
            Finding(
                "custom_code",
                f"config.json asks for code of its own ({visible(str(custom), 60)}), which is never run here",
            )
        )
    method = config.get("quantization_config")
    if (
        config.get("quantization") is None
        and method
        and not (isinstance(method, dict) and "quant_method" in method)
    ):
        reasons.append(
            Finding("no_quant_method", "config.json has a quantization_config without quant_method")
        )
    return reasons
