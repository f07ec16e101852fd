"""One decode step of a blank model at a context of n tokens, exported as a graph."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from workbench.worker.jobs.tracing import caches
from workbench.worker.jobs.tracing.graph import Graph


@dataclass(frozen=True, slots=True)
class Step:
    """A decode step's graph, told apart: array ids of its parameters, caches, logits and next caches.

    `nbytes` are the bytes of parameters and cached arrays, in the order of `graph.inputs`.
    """

    graph: Graph
    parameters: tuple[str, ...]  # names; graph.inputs begins with their ids
    nbytes: tuple[int, ...]
    logits: str
    next_caches: tuple[str, ...]


def step(model: Any, context: int) -> Step:
    """Export the step that follows a context of `context` tokens (at least 1).

    Where a kind of cache cannot be set by its shape, the whole context is prefilled, for its shapes only.
    """
    import mlx.core as mx
    from mlx.utils import tree_flatten, tree_unflatten
    from mlx_lm.models.cache import make_prompt_cache

    held = tree_flatten(model.parameters())
    names = [name for name, _ in held]
    parameters = [array for _, array in held]

    with _as_it_was(model):
        cache = make_prompt_cache(model)
        by_shape = all(caches.growable(part) for part in cache)
        prefill = min(context, caches.PREFILLED) if by_shape else context

        def warm_up(*tracers: Any) -> list[Any]:
            model.update(tree_unflatten(list(zip(names, tracers, strict=False))))
            return [model(tracers[-1], cache=cache)]

        mx.export_function(lambda _: None, warm_up, *parameters, mx.zeros((1, prefill), mx.int32))
    if by_shape:
        for part in cache:
            caches.grow(part, context)
    caches.blank_all(cache)
    cached = caches.arrays(cache)

    with _as_it_was(model):

        def decode(*tracers: Any) -> list[Any]:
            model.update(tree_unflatten(list(zip(names, tracers, strict=False))))
            caches.fill(cache, tracers[len(names) : -1])
            logits = model(tracers[-1], cache=cache)
            return [logits[:, -1, :], *caches.arrays(cache)]

        graph = Graph()
        mx.export_function(graph.record, decode, *parameters, *cached, mx.zeros((1, 1), mx.int32))
    return Step(
        graph,
        tuple(names),
        tuple(array.nbytes for array in [*parameters, *cached]),
        graph.outputs[0],
        tuple(graph.outputs[1:]),
    )


@contextmanager
def _as_it_was(model: Any) -> Iterator[None]:
    """Give every module back what it held: some keep positions or derived weights between calls."""
    modules: Sequence[Any] = [module for _, module in model.named_modules()]
    held = [(dict(module), dict(vars(module))) for module in modules]
    try:
        yield
    finally:
        for module, (items, attributes) in zip(modules, held, strict=True):
            module.clear()
            dict.update(module, items)
            vars(module).clear()
            vars(module).update(attributes)
