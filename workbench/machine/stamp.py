"""The stamp: who measures, on what, with which versions. A number without it is a rumour.

No host name and no absolute home path may enter it.
"""

import asyncio
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import workbench
from workbench.locations import home as users_home
from workbench.machine import linux, macos
from workbench.machine.commands import text_of


class WorkerStamp(Protocol):
    """What the worker says of its backend; sizes in bytes."""

    @property
    def device(self) -> str | None:
        """The device's name."""

    @property
    def backend(self) -> str | None:
        """The backend's name: metal, cuda or cpu."""

    @property
    def memory_bytes(self) -> int | None:
        """The device's memory."""

    @property
    def recommended_working_set_bytes(self) -> int | None:
        """What the GPU may use at once."""

    @property
    def mlx(self) -> str | None:
        """MLX's version."""

    @property
    def mlx_lm(self) -> str | None:
        """mlx-lm's version."""

    @property
    def transformers(self) -> str | None:
        """The version of transformers."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The machine as its system describes it, without any backend."""

    os: str | None = None
    macos: str | None = None
    os_build: str | None = None
    hw_model: str | None = None
    chip: str | None = None
    gpu_cores: int | None = None
    memory_bytes: int | None = None
    cpu_cache_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class MachineStamp:
    """The record's stamp group, field for field."""

    alias: str | None
    device: str | None
    hw_model: str | None
    gpu_cores: int | None
    memory_gb: float | None
    memory_bytes: int | None
    recommended_working_set_gb: float | None
    last_level_cache_bytes: int | None
    os: str | None
    macos: str | None
    os_build: str | None
    python: str
    mlx: str | None
    mlx_lm: str | None
    transformers: str | None
    workbench: str
    date: str
    command: list[str]
    ssh: bool


async def facts() -> Facts:
    """The facts of this machine."""
    import psutil

    memory_bytes = int(psutil.virtual_memory().total)
    if sys.platform == "darwin":
        versions, hardware, gpu = await asyncio.gather(
            text_of("sw_vers"),
            text_of("sysctl", "hw.model", "machdep.cpu.brand_string"),
            text_of("ioreg", "-r", "-d", "1", "-c", "AGXAccelerator"),
        )
        version = platform.mac_ver()[0] or None
        return Facts(
            os=f"macOS {version}" if version else "macOS",
            macos=version,
            os_build=macos.build(versions or ""),
            hw_model=macos.hardware_model(hardware or ""),
            chip=macos.chip(hardware or ""),
            gpu_cores=macos.gpu_cores(gpu or ""),
            memory_bytes=memory_bytes,
        )
    return Facts(
        os=_linux_name(),
        os_build=platform.release(),
        hw_model=linux.hardware_model(),
        chip=linux.chip(_cpuinfo()),
        memory_bytes=memory_bytes,
        cpu_cache_bytes=linux.last_level_cache_bytes(),
    )


def compose(
    known: Facts,
    worker: WorkerStamp | None,
    *,
    alias: str | None = None,
    command: Sequence[str] = (),
    now: datetime | None = None,
    environ: Mapping[str, str] = os.environ,
) -> MachineStamp:
    """The stamp from the system's facts and the worker's word; `alias` defaults to the chip's name."""
    device = (worker.device if worker else None) or known.chip
    memory_bytes = (worker.memory_bytes if worker else None) or known.memory_bytes
    working_set = worker.recommended_working_set_bytes if worker else None
    return MachineStamp(
        alias=alias or device,
        device=device,
        hw_model=known.hw_model,
        gpu_cores=known.gpu_cores,
        memory_gb=_gb(memory_bytes),
        memory_bytes=memory_bytes,
        recommended_working_set_gb=_gb(working_set),
        last_level_cache_bytes=known.cpu_cache_bytes if worker and worker.backend == "cpu" else None,
        os=known.os,
        macos=known.macos,
        os_build=known.os_build,
        python=platform.python_version(),
        mlx=worker.mlx if worker else None,
        mlx_lm=worker.mlx_lm if worker else None,
        transformers=worker.transformers if worker else None,
        workbench=workbench.__version__,
        date=utc_text(now or datetime.now(UTC)),
        command=private_command(command),
        ssh="SSH_CONNECTION" in environ or "SSH_TTY" in environ,
    )


def utc_text(moment: datetime) -> str:
    """A moment as records write it: UTC, whole seconds, for example `2026-09-15T10:11:12+00:00`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def private_command(argv: Sequence[str], home: Path | None = None) -> list[str]:
    """The command as records keep it: the program's bare name, and `~` for the home directory everywhere."""
    if not argv:
        return []
    return [Path(argv[0]).name, *(private_text(word, home) for word in argv[1:])]


def private_text(text: str, home: Path | None = None) -> str:
    """The text with `~` for the home directory, by its name and by where links lead."""
    place = home or users_home()
    if place is None:
        return text
    return _without_home(_without_home(text, str(place)), str(place.resolve()))


def _without_home(word: str, home: str) -> str:
    if len(home) < 2:  # a home of "/" hides nothing
        return word
    parts = word.split(home)
    joined = parts[0]
    for part in parts[1:]:
        ends_here = not part or not (part[0].isalnum() or part[0] in "_-")
        joined += ("~" if ends_here else home) + part
    return joined


def _gb(size_bytes: int | None) -> float | None:
    return None if size_bytes is None else round(size_bytes / 1e9, 1)


def _linux_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME") or platform.system()
    except OSError:
        return platform.system()


def _cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")[:8192]
    except OSError:
        return ""
