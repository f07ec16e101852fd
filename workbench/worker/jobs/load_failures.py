"""What mlx-lm's loader raises, as sentences that say what to do. Pure: exceptions in, words out."""

import errno
import json
import re
from pathlib import Path
from typing import NamedTuple

from workbench.errors import WorkerError
from workbench.worker.log import escaped

_AGAIN = "Download the checkpoint again."
_OTHER = "Choose another checkpoint; `workbench models` lists what this machine has."


class _Case(NamedTuple):
    kind: type[BaseException]
    pattern: str  # searched in the exception's text; its groups fill `message`
    code: str
    message: str
    hint: str


# As seen with mlx-lm 0.32.2 and mlx 0.32.4. The first case that fits speaks.
_CASES = (
    _Case(
        json.JSONDecodeError,
        "tokenizer.json",
        "tokenizer_broken",
        "tokenizer.json of {name} is not valid JSON.",
        "Download tokenizer.json again.",
    ),
    _Case(
        json.JSONDecodeError,
        "",
        "tokenizer_broken",
        "A JSON file beside config.json of {name} is not valid JSON: {text}",
        "Download the tokenizer's files again.",
    ),
    _Case(
        UnicodeDecodeError,
        "",
        "tokenizer_broken",
        "A JSON file beside config.json of {name} is not UTF-8 text.",
        "Download the tokenizer's files again.",
    ),
    _Case(
        KeyError,
        "^'model_type'$",
        "model_type_missing",
        "config.json of {name} names no model_type.",
        "It may be an adapter or a part of a model. " + _OTHER,
    ),
    _Case(
        KeyError,
        "^'quant_method'$",
        "quant_method_missing",
        "config.json of {name} has a quantization_config without a quant_method, which mlx-lm needs.",
        "Convert the checkpoint with mlx_lm.convert, or choose another.",
    ),
    _Case(
        KeyError,
        "^'added_tokens'$",
        "tokenizer_broken",
        "tokenizer.json of {name} is no tokenizer.",
        "Download tokenizer.json again.",
    ),
    _Case(
        ValueError,
        r"Model type (.*) not supported",
        "model_type_unsupported",
        "mlx-lm does not know the model type {0} of {name}.",
        "A newer mlx-lm may know it: pip install --upgrade mlx-lm. Or choose another checkpoint.",
    ),
    _Case(
        AttributeError,
        r"module 'mlx_lm\.models\.(.*?)'",
        "model_type_unsupported",
        "The model type {0} of {name} is no model of mlx-lm.",
        _OTHER,
    ),
    _Case(
        TypeError,
        r"__init__\(\) missing \d+ required.*?: (.*)",
        "config_field_missing",
        "config.json of {name} lacks {0}, which mlx-lm needs.",
        "Download config.json again.",
    ),
    _Case(
        ValueError,
        r"custom module|trust_remote_code|custom code",
        "custom_code",
        "The checkpoint {name} wants its own Python code to be run, which is not done here.",
        "Choose a checkpoint whose architecture and tokenizer need no code of their own.",
    ),
    _Case(
        ValueError,
        r"instantiate the backend tokenizer|sentencepiece|tiktoken",
        "tokenizer_missing",
        "{name} has no tokenizer that can be loaded (tokenizer.json is missing).",
        "Download tokenizer.json and tokenizer_config.json of the same repository.",
    ),
    _Case(
        OSError,
        r"Can't load tokenizer|does not appear to have a file",
        "tokenizer_missing",
        "{name} has no tokenizer that can be loaded (tokenizer.json is missing).",
        "Download tokenizer.json and tokenizer_config.json of the same repository.",
    ),
    _Case(
        FileNotFoundError,
        "No safetensors found",
        "weights_missing",
        "{name} holds no weight file named model*.safetensors, the only ones mlx-lm loads.",
        "Download the weights, or convert the checkpoint with mlx_lm.convert.",
    ),
    _Case(
        FileNotFoundError,
        r"config\.json",
        "config_missing",
        "{name} has no config.json.",
        "Give the directory that holds config.json and the safetensors files.",
    ),
    _Case(
        ValueError,
        r"Missing (\d+) parameters",
        "weights_incomplete",
        "{name} lacks {0} of the tensors that the model needs: a shard is missing.",
        "Download the missing shard; `workbench bytes` names it when an index lies beside it.",
    ),
    _Case(
        ValueError,
        r"Expected shape (.*?) but received shape (.*?) for parameter (\S+)",
        "weights_shape",
        "Tensor {2} of {name} has shape {1}, and config.json asks for {0}.",
        "Weights and config.json are of different models or versions: download both again.",
    ),
    _Case(
        ValueError,
        r"Received (\d+) parameters not in model",
        "weights_extra",
        "{name} holds tensors that mlx-lm's model has no place for ({0} in number).",
        "Weights and config.json do not belong together, or this mlx-lm is too old: upgrade mlx-lm.",
    ),
    _Case(
        RuntimeError,
        r"exceeding the size of the file|incomplete download",
        "weights_truncated",
        "A weight file of {name} is shorter than its header says: the download is incomplete.",
        _AGAIN,
    ),
    _Case(
        RuntimeError,
        r"Unable to read \d+ bytes|[Ff]ailed to open file|[Ii]nvalid (json )?header|parse_error",
        "weights_unreadable",
        "A weight file of {name} is no safetensors file (empty, a git-lfs pointer, or a broken link).",
        "Fetch the real files: git lfs pull, or download again.",
    ),
    _Case(
        RuntimeError,
        r"Unable to read from file|[Oo]ut of memory|OutOfMemory|Insufficient Memory|[Uu]nable to allocate|"
        r"maximum allowed buffer|Attempting to allocate|bad_alloc",
        "out_of_memory",
        "There is not enough memory to load {name}.",
        "Close other programs, or choose a smaller checkpoint.",
    ),
)


def in_words(error: Exception, path: Path) -> WorkerError:
    """The WorkerError for what `mlx_lm` raised while it loaded the checkpoint at `path`."""
    name, text = escaped(path.name, 80), str(error)
    for case in _CASES:
        if isinstance(error, case.kind) and (found := re.search(case.pattern, text, re.DOTALL)):
            parts = [escaped(part or "", 120) for part in found.groups()]
            message = case.message.format(*parts, name=name, text=escaped(text, 120))
            return WorkerError(message, case.hint, code=case.code)
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM):
        return WorkerError(
            f"A file of {name} may not be read by this user.",
            "Give yourself the right to read the checkpoint's files.",
            code="weights_unreadable",
        )
    if isinstance(error, MemoryError):
        return WorkerError(
            f"There is not enough memory to load {name}.",
            "Close other programs, or choose a smaller checkpoint.",
            code="out_of_memory",
        )
    return WorkerError(
        f"mlx-lm cannot load {name}: {type(error).__name__}: {escaped(text, 200).rstrip('.')}.",
        _OTHER,
        code="load_failed",
    )
