"""The checkpoint's own mlx-lm model, built from headers, and which tensors each parameter was made of.

mlx-lm's own `load_model` does the work: the model class, its sanitize, the quantization. It finds empty files
and arrays without values; no weight file is opened.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from workbench.worker.jobs.tracing.graph import Graph, origins
from workbench.worker.jobs.tracing.headers import Header

Origin = dict[str, float]
"""What an array was made of: {tensor of the file: the part of it that went in}."""


@dataclass(frozen=True, slots=True)
class Built:
    """A model whose parameters have shapes and no values.

    `origins` maps a parameter's name to what it was made of. `unknown` are tensors that the model has no
    place for, `missing` parameters that no tensor fills: mlx-lm refuses to load such a checkpoint. `aliases`
    are parameters that share another one's memory.
    """

    model: Any
    origins: Mapping[str, Origin]
    unknown: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    aliases: frozenset[str] = frozenset()


_LAYERWISE_FROM = 30_000
"""Above so many tensors sanitize runs layer by layer: the graph of DeepSeek-V3's takes 1.2 GB at once."""


def build(folder: Path, headers: Sequence[Header]) -> Built:
    """Load the model of `folder`, which holds config.json and nothing that matters besides.

    Whatever mlx-lm raises for a wrong checkpoint is raised here: `failures` has the words.
    """
    (folder / "model.safetensors").touch()
    if len(headers) < _LAYERWISE_FROM:
        return _build(folder, headers, _at_once)
    try:
        built = _build(folder, headers, _layer_by_layer)
    except (KeyError, ValueError):
        return _build(folder, headers, _at_once)
    return built if not built.unknown and not built.missing else _build(folder, headers, _at_once)


Parts = Callable[[Sequence[str]], Iterator[list[str]]]


@dataclass(slots=True)
class _Ancestry:
    """What each name of the weights dictionary was made of; a name that is not in it is the file's own."""

    origins: dict[str, Origin] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)


def _build(folder: Path, headers: Sequence[Header], parts: Parts) -> Built:
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_lm import utils

    ancestry = _Ancestry()

    def classes(config: dict[str, Any]) -> tuple[Callable[[Any], Any], Any]:
        try:
            model_class, arguments = utils._get_classes(config=config)
        except SystemExit as end:  # a model module whose own import lacks a package ends the process
            raise ValueError(f"Model type {config['model_type']} not supported.") from end

        def construct(args: Any) -> Any:
            model = model_class(args)
            model.__dict__["sanitize"] = _watched(getattr(model, "sanitize", dict), ancestry, parts)
            return model

        return construct, arguments

    repack = utils._transform_awq_weights

    def repacked(weights: dict[str, Any], quantization_config: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        told: list[Any] = []

        def rewrite(some: dict[str, Any]) -> dict[str, Any]:
            new, quantization = repack(some, quantization_config)
            told.append(quantization)
            return new  # type: ignore[no-any-return]

        return _watched(rewrite, ancestry, _at_once)(weights), told[-1]

    with (
        mock.patch.object(mx, "load", lambda *_, **__: {header.name: header for header in headers}),
        mock.patch.object(utils, "_transform_awq_weights", repacked),
    ):
        try:
            model, _ = utils.load_model(folder, lazy=True, strict=True, get_model_classes=classes)
            strict = True
        except ValueError as error:
            if not re.match(r"(Received|Missing) \d+ parameters", str(error)):
                raise
            ancestry.origins = {}
            model, _ = utils.load_model(folder, lazy=True, strict=False, get_model_classes=classes)
            strict = False
    model.__dict__.pop("sanitize", None)
    names = {name for name, _ in tree_flatten(model.parameters())}
    if strict:
        return Built(model, ancestry.origins, aliases=frozenset(ancestry.aliases))
    unknown = {tensor for name in ancestry.origins.keys() - names for tensor in ancestry.origins[name]}
    missing = names - ancestry.origins.keys()
    return Built(
        model,
        ancestry.origins,
        tuple(sorted(unknown)),
        tuple(sorted(missing)),
        frozenset(ancestry.aliases),
    )


def blank(header: Any) -> Any:
    """An array of the type and shape of a header (or of another array), without values and memory."""
    import mlx.core as mx

    if isinstance(header, mx.array):
        return mx.zeros(header.shape, header.dtype)
    types = {
        "BOOL": mx.bool_,
        "U8": mx.uint8,
        "U16": mx.uint16,
        "U32": mx.uint32,
        "U64": mx.uint64,
        "I8": mx.int8,
        "I16": mx.int16,
        "I32": mx.int32,
        "I64": mx.int64,
        "F16": mx.float16,
        "BF16": mx.bfloat16,
        "F32": mx.float32,
        "F64": mx.float64,
        "F8_E4M3": mx.uint8,
        "F8_E8M0": mx.uint8,
    }
    if header.dtype not in types:
        raise ValueError(f"[safetensor] unsupported dtype {header.dtype}")
    return mx.zeros(header.shape, types[header.dtype])


def _watched(
    rewrite: Callable[[dict[str, Any]], dict[str, Any]], ancestry: _Ancestry, parts: Parts
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """`rewrite`, run on tracers; what it gives is blank again, and `ancestry` knows what it was made of."""
    import mlx.core as mx

    def watched(weights: dict[str, Any]) -> dict[str, Any]:
        blanks: dict[str, Any] = {}
        made_of: dict[str, Origin] = {}
        for names in parts(list(weights)):
            given: dict[str, Any] = {}

            def run(*tracers: Any, names: list[str] = names, given: dict[str, Any] = given) -> list[Any]:
                given.update(rewrite(dict(zip(names, tracers, strict=True))))
                return list(given.values())

            graph = Graph()
            mx.export_function(graph.record, run, *(blank(weights[name]) for name in names))
            seen: set[str] = set()
            for name, array, parents in zip(given, graph.outputs, origins(graph), strict=True):
                if name not in blanks:
                    blanks[name] = mx.zeros(given[name].shape, given[name].dtype)
                    made_of[name] = _traced_back(names, parents, ancestry.origins)
                    if array in seen:
                        ancestry.aliases.add(name)
                seen.add(array)
        ancestry.origins = made_of
        return blanks

    return watched


def _traced_back(names: Sequence[str], parents: dict[int, float], earlier: Mapping[str, Origin]) -> Origin:
    origin: Origin = {}
    for i, part in parents.items():
        for tensor, earlier_part in earlier.get(names[i], {names[i]: 1.0}).items():
            origin[tensor] = min(origin.get(tensor, 0.0) + part * earlier_part, 1.0)
    return origin


def _at_once(names: Sequence[str]) -> Iterator[list[str]]:
    yield list(names)


def _layer_by_layer(names: Sequence[str]) -> Iterator[list[str]]:
    """One layer after the other, always together with what belongs to no layer (ties are decided by it)."""
    common: list[str] = []
    layers: dict[str, list[str]] = {}
    for name in names:
        layer = re.match(r"(?:.*?\.)?(\d+)\.", name)
        (layers.setdefault(layer[0], []) if layer else common).append(name)
    for layer_names in layers.values():
        yield common + layer_names
    if not layers:
        yield common
