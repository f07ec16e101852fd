"""One real decode step, clean or with damage, and the comparison of their logits."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any
from unittest import mock

from workbench.errors import WorkerError
from workbench.worker.jobs.damaging.chosen import noting
from workbench.worker.jobs.damaging.harm import HARMS, Harm, in_rows
from workbench.worker.jobs.damaging.parts import EXPECTED, Part
from workbench.worker.jobs.tracing.caches import arrays
from workbench.worker.messages import Damaged


@dataclass(frozen=True, slots=True)
class CleanStep:
    """The undamaged step: the cache before it, its token, its logits, and the rows that its indices chose."""

    cache: Any
    token: int
    logits: Any
    chosen: Mapping[str, frozenset[int]]


def clean_step(path: Path, prefilled: int, seed: int) -> CleanStep:
    """Prefill fixed tokens, then take one step. Raises WorkerError if a repeat gives other logits."""
    import mlx.core as mx
    from mlx_lm.models.cache import make_prompt_cache

    model = _load(path)
    cache = make_prompt_cache(model)
    vocabulary = model(mx.array([[seed]]), cache=make_prompt_cache(model)).shape[-1]
    ids = [(seed + 7919 * i) % vocabulary for i in range(prefilled + 1)]
    mx.eval(model(mx.array([ids[:-1]]), cache=cache), arrays(cache))
    with noting(model) as chosen:
        logits = _step(model, cache, ids[-1])
    if not mx.array_equal(logits, _step(model, cache, ids[-1])).item():
        raise WorkerError(
            "The same step gives different logits twice: a NaN, or a backend that is not deterministic.",
            "Damage cannot be told from chance here; try the CPU backend.",
            code="not_deterministic",
        )
    return CleanStep(cache, ids[-1], logits, chosen.rows())


def tried(path: Path, part: Part, clean: CleanStep, seed: int) -> Damaged:
    """Load the checkpoint with the part damaged, once for each kind of harm, and take the same step."""
    import mlx.core as mx

    by_harm = {
        name: _step(_load(path, part, harm, seed), clean.cache, clean.token) for name, harm in HARMS.items()
    }
    change = float(mx.max(mx.abs(by_harm["noise"] - clean.logits)))
    return Damaged(
        label=part.label,
        part=part.part,
        tensors=len(part.rows),
        damaged_bytes=part.damaged_bytes,
        expected=EXPECTED[part.part],
        moved=not all(mx.array_equal(logits, clean.logits).item() for logits in by_harm.values()),
        max_change=change if isfinite(change) else None,
    )


def _load(path: Path, part: Part | None = None, harm: Harm | None = None, seed: int = 0) -> Any:
    """The model as mlx-lm loads it, lazily, its file's tensors damaged on the way in."""
    import mlx.core as mx
    from mlx_lm.utils import load_model

    load: Any = mx.load

    def damaged(file: str) -> Any:
        tensors = load(file)
        if part is not None and harm is not None:
            for name in tensors.keys() & part.rows.keys():
                tensors[name] = in_rows(harm(name, tensors[name], seed), tensors[name], part.rows[name])
        return tensors

    with mock.patch.object(mx, "load", damaged):
        return load_model(path, lazy=True, trust_remote_code=False)[0]


def _step(model: Any, cache: Any, token: int) -> Any:
    """The logits of one step after `cache`, which stays as it is."""
    import mlx.core as mx

    logits = model(mx.array([[token]]), cache=copy.deepcopy(cache))[:, -1, :].astype(mx.float32)
    mx.eval(logits)
    mx.clear_cache()
    return logits
