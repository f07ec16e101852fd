"""The synthesize job: builds the synthetic checkpoints from mlx-lm's own model classes, byte for byte alike.

Every tensor has a random stream of its own, so that neither order nor library state can change a byte.
"""

import errno
import fcntl
import json
import os
import shutil
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from workbench.errors import WorkerError
from workbench.shelf.synthetic import SPECS, Spec, is_built
from workbench.worker.jobs.vision import vision_shapes
from workbench.worker.messages import Synthesized, SynthesizeRequest
from workbench.worker.outlet import Say

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float32]]


def run(request: SynthesizeRequest, say: Say) -> None:
    """Build each named checkpoint below the directory. Raises WorkerError in words on a full disk."""
    directory = Path(request.directory)
    for name in request.names:
        spec = SPECS.get(name)
        if spec is None:
            raise WorkerError(
                f"There is no synthetic checkpoint {name!r}.", f"There are: {', '.join(SPECS)}."
            )
        try:
            say(Synthesized(name=name, path=str(directory / name), built=build(spec, directory)))
        except OSError as error:
            raise _in_words(error, spec, directory) from error


def build(spec: Spec, directory: Path) -> bool:
    """Build one checkpoint as `directory/NAME`; False when it was there. Raises OSError, WorkerError.

    It grows in a hidden folder and is renamed when complete; a second process waits for the first.
    """
    target = directory / spec.name
    if is_built(target):
        return False
    directory.mkdir(parents=True, exist_ok=True)
    with _alone(directory / f".{spec.name}.lock"):
        if is_built(target):
            return False
        if target.exists():
            raise WorkerError(
                f"The synthetic checkpoint at {target} lacks files.",
                f"Delete the folder {target} and try again.",
            )
        _check_room(spec, directory)
        for left_over in directory.glob(f".{spec.name}.building-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        growing = directory / f".{spec.name}.building-{os.getpid()}"
        try:
            growing.mkdir()
            _fill(spec, growing)
            growing.rename(target)
        finally:
            shutil.rmtree(growing, ignore_errors=True)
    return True


def _fill(spec: Spec, folder: Path) -> None:
    from workbench.worker.jobs.small_tokenizer import save_tokenizer

    text = dict(spec.config.get("text_config", spec.config))
    (folder / "config.json").write_text(json.dumps(spec.config, indent=2, sort_keys=True) + "\n", "utf-8")
    save_tokenizer(folder, int(text["vocab_size"]))
    shapes = _model_shapes(spec.config)
    if "vision_config" in spec.config:
        shapes |= vision_shapes(spec.config["vision_config"])
    with (folder / "model.safetensors").open("wb") as file:
        _write_safetensors(file, shapes, spec.seed)


def _model_shapes(config: Any) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the parameters of mlx-lm's model class for `config`; nothing is evaluated."""
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_lm.utils import _get_classes

    mx.random.seed(0)
    config = json.loads(json.dumps(config))  # the model classes edit what they are given
    model_class, args_class = _get_classes(config)
    model = model_class(args_class.from_dict(config))
    return {name: tuple(array.shape) for name, array in tree_flatten(model.parameters())}


def _write_safetensors(file: IO[bytes], shapes: dict[str, tuple[int, ...]], seed: int) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "mlx"}}
    end = 0
    for name, shape in sorted(shapes.items()):
        begin, end = end, end + 4 * _size(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<Q", len(text)) + text)
    for name, shape in sorted(shapes.items()):
        file.write(_values(name, shape, seed).tobytes())


def _values(name: str, shape: tuple[int, ...], seed: int) -> "Array":
    """Plausible random float32 values for the tensor: ones for norms, decays for A_log, else normal."""
    import numpy as np

    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    if name.endswith("A_log"):
        return np.log(random.uniform(1, 16, shape)).astype("<f4")
    if "norm" in name and name.endswith("weight"):
        return np.ones(shape, "<f4")
    values = random.standard_normal(shape, dtype=np.float32).astype("<f4", copy=False)
    values *= np.float32(shape[-1] ** -0.5 if len(shape) > 1 else 0.02)
    return values


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _check_room(spec: Spec, directory: Path) -> None:
    free = shutil.disk_usage(directory).free
    if free < spec.disk_bytes + 2**20:
        raise OSError(errno.ENOSPC, f"{free / 1e6:.0f} MB are free")


def _in_words(error: OSError, spec: Spec, directory: Path) -> WorkerError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return WorkerError(
            f"The disk is too full for {spec.name} ({spec.disk_bytes / 1e6:.0f} MB) in {directory}.",
            "Free some space, or set WORKBENCH_HOME to a folder on another disk.",
            code="disk_full",
        )
    return WorkerError(
        f"synthetic/{spec.name} cannot be built in {directory}: {error.strerror or error}.",
        "Make the folder writable, or set WORKBENCH_HOME to another one.",
        code="cache_unwritable",
    )
