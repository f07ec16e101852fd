"""The stamp job: which device and which libraries measure here."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from workbench.worker.messages import Stamp, StampRequest
from workbench.worker.outlet import Say


def run(_request: StampRequest, _say: Say) -> None:
    """Nothing to do: the stamp went out with `Ready`."""


def take() -> Stamp:
    """The stamp of this process's default device; null where the backend does not say."""
    import mlx.core as mx

    info: dict[str, Any] = dict(mx.device_info())
    return Stamp(
        device=info.get("device_name"),
        architecture=info.get("architecture"),
        backend=backend(),
        memory_bytes=info.get("memory_size") or info.get("total_memory"),
        recommended_working_set_bytes=info.get("max_recommended_working_set_size"),
        mlx=vars(mx).get("__version__"),
        mlx_lm=_version("mlx-lm"),
        transformers=_version("transformers"),
    )


def backend() -> str:
    """The default device's backend: "metal", "cuda" or "cpu"."""
    import mlx.core as mx

    if mx.default_device().type == mx.DeviceType.cpu:
        return "cpu"
    return "metal" if mx.metal.is_available() else "cuda"


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
