"""Which experts and which table rows a real step chose: noted as the model's own layers are called."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock


@dataclass(slots=True)
class Chosen:
    """The indices that each module was called with, by the module's name; not yet evaluated."""

    names: dict[int, str]
    indices: dict[str, list[Any]] = field(default_factory=dict)

    def rows(self) -> dict[str, frozenset[int]]:
        """Module -> the rows of its first axis that were chosen."""
        return {
            name: frozenset(int(row) for array in arrays for row in array.reshape(-1).tolist())
            for name, arrays in self.indices.items()
        }


@contextmanager
def noting(model: Any) -> Iterator[Chosen]:
    """Note the indices of every embedding and every layer of experts while the model runs."""
    from mlx import nn
    from mlx_lm.models.switch_layers import QuantizedSwitchLinear, SwitchLinear

    chosen = Chosen({id(module): name for name, module in model.named_modules()})
    with ExitStack() as patches:
        for kind, place in {
            nn.Embedding: 0,
            nn.QuantizedEmbedding: 0,
            SwitchLinear: 1,
            QuantizedSwitchLinear: 1,
        }.items():
            patches.enter_context(mock.patch.object(kind, "__call__", _noted(kind.__call__, place, chosen)))
        yield chosen


def _noted(call: Any, place: int, chosen: Chosen) -> Any:
    def noted(module: Any, *arguments: Any, **named: Any) -> Any:
        name = chosen.names.get(id(module))
        if name is not None and len(arguments) > place:
            chosen.indices.setdefault(name, []).append(arguments[place])
        return call(module, *arguments, **named)

    return noted
