"""Loads a checkpoint from a local directory as mlx-lm does, and its fixed prompt; every failure in words.

A path is never taken for a repository name, and no code that a checkpoint brings along is run.
"""

import hashlib
import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError, WorkerError
from workbench.worker.jobs.load_failures import in_words
from workbench.worker.jobs.prose import PROSE
from workbench.worker.log import escaped


@dataclass(frozen=True)
class LoadedModel:
    """A model in memory with its tokenizer (mlx-lm's wrapper) and config.json as mlx-lm read it."""

    model: Any
    tokenizer: Any
    config: dict[str, Any]


def load_checkpoint(path: Path) -> LoadedModel:
    """Load tokenizer and weights (evaluated). Raises WorkerError with a sentence and what to do."""
    _check_files(path)
    from mlx_lm.utils import load_config, load_model, load_tokenizer

    with _failures_in_words(path):
        # The tokenizer first: it fails in a second, the weights of a large checkpoint take minutes.
        eos = load_config(path).get("eos_token_id")
        tokenizer = load_tokenizer(path, {"trust_remote_code": False}, eos_token_ids=eos)
        model, config = load_model(path, trust_remote_code=False)
    return LoadedModel(model, tokenizer, config)


def fixed_prompt(loaded: LoadedModel, tokens: int) -> list[int]:
    """The first `tokens` ids of the fixed text in the model's tokenizer (its own first token included)."""
    text = PROSE
    ids: list[int] = []
    while len(ids) < tokens:
        ids = list(loaded.tokenizer.encode(text))
        if len(ids) < len(text) // 1000:  # no tokenizer packs a thousand letters into a token
            raise WorkerError(
                "The checkpoint's tokenizer makes no tokens of English text.",
                "Take tokenizer.json from the repository that the weights come from.",
                code="tokenizer_broken",
            )
        text += PROSE
    ids = ids[:tokens]
    vocabulary = (loaded.config.get("text_config") or loaded.config).get("vocab_size")
    if isinstance(vocabulary, int) and max(ids) >= vocabulary:
        raise WorkerError(
            f"The tokenizer gives token {max(ids)}, and the model knows only {vocabulary} tokens.",
            "Tokenizer and weights are of different models: download the checkpoint again.",
            code="tokenizer_mismatch",
        )
    return ids


def prompt_sha256(ids: list[int]) -> str:
    """SHA-256 of the token ids as decimal numbers joined by single spaces."""
    return hashlib.sha256(" ".join(map(str, ids)).encode()).hexdigest()


@contextmanager
def _failures_in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except WorkbenchError:
        raise
    except Exception as error:
        raise in_words(error, path) from error


def _check_files(path: Path) -> None:
    """What must be seen before mlx-lm touches the files: it would hang, ask the network, or say less."""
    if not path.is_dir():
        what = "is a file, not a directory" if path.exists() else "does not exist"
        raise WorkerError(
            f"The checkpoint directory {escaped(str(path))} {what}.",
            "Give the directory that holds config.json and the safetensors files.",
            code="checkpoint_missing",
        )
    if _read_config(path).get("model_file") is not None:
        raise WorkerError(
            f"The checkpoint {escaped(path.name, 80)} brings its own Python code, which is not run here.",
            "Choose a checkpoint whose architecture mlx-lm knows.",
            code="custom_code",
        )
    for shard in sorted(path.glob("model*.safetensors")):
        _check_shard(shard)


def _read_config(path: Path) -> dict[str, Any]:
    file, problem = path / "config.json", "is no JSON object"
    try:
        if not file.is_file():  # a named pipe would hang
            raise FileNotFoundError(str(file))
        raw = file.read_bytes()
        if raw.startswith(b"\xef\xbb\xbf"):
            problem = "begins with a byte-order mark, which mlx-lm cannot read"
        config = json.loads(raw.decode("utf-8"))
    except ValueError:  # not JSON, or not UTF-8
        config = None
    except OSError as error:
        raise in_words(error, path) from error
    if isinstance(config, dict):
        return config
    raise WorkerError(
        f"config.json of {escaped(path.name, 80)} {problem}.",
        "Download config.json again.",
        code="config_not_json",
    )


def _check_shard(shard: Path) -> None:
    try:
        found = shard.stat()
    except OSError:
        problem = "points to a file that is not there"
    else:
        if stat.S_ISREG(found.st_mode) and found.st_size >= 8:
            return
        problem = "is no regular file" if not stat.S_ISREG(found.st_mode) else "is empty or cut off"
    raise WorkerError(
        f"The weight file {escaped(shard.name, 80)} {problem}.",
        "Download it again.",
        code="weights_unreadable",
    )
