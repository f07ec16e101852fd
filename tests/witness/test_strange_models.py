"""Models with a trick that no rule knows: what each reads is known by hand, and the graph must find it."""

from dataclasses import replace

import mlx.core as mx
import pytest
from mlx import nn
from mlx.utils import tree_flatten
from mlx_lm.models.switch_layers import SwitchLinear

from tests.checkpoints import checkpoint
from tests.witness.looking import look
from tests.witness.strange import NAME, taught_to_mlx_lm
from workbench.accounting.engine import count
from workbench.errors import WorkerError
from workbench.witness.agreement import Status, compare

WIDE, WORDS = 32, 50
ROW, SQUARE, TABLE = WIDE * 4, WIDE * WIDE * 4, WORDS * WIDE * 4
"""Bytes of one row, of a square matrix and of a vocabulary's, in F32."""


class Plain(nn.Module):
    """A table, two layers, a head; each trick overrides what it needs."""

    def __init__(self, args):
        super().__init__()
        self.embed_tokens = nn.Embedding(WORDS, WIDE)
        self.layers = [nn.Linear(WIDE, WIDE, bias=False) for _ in range(2)]
        self.lm_head = nn.Linear(WIDE, WORDS, bias=False)
        self.extra()

    def extra(self):
        """Further parameters."""

    def __call__(self, inputs, cache=None):
        return self.out(self.body(self.look_up(inputs)))

    def look_up(self, inputs):
        return self.embed_tokens(inputs)

    def body(self, x):
        for layer in self.layers:
            x = mx.tanh(layer(x))
        return x

    def out(self, x):
        return self.lm_head(x)

    def make_cache(self):
        return []


LEAN = 2 * SQUARE + TABLE


class TokenPairs(Plain):
    """A second table, of pairs of words, taken by a computed row."""

    def extra(self):
        self.pairs = mx.zeros((WORDS * 7, WIDE))

    def look_up(self, inputs):
        return self.embed_tokens(inputs) + mx.take(self.pairs, (inputs * 31) % (WORDS * 7), axis=0)


class TallTable(Plain):
    """A table that is kept transposed, so that a token takes a column."""

    def extra(self):
        self.columns = mx.zeros((WIDE, WORDS))

    def look_up(self, inputs):
        return self.embed_tokens(inputs) + mx.take(self.columns, inputs, axis=1).transpose(1, 2, 0)


class UnevenLoop(Plain):
    """The first layer runs three times, the second once."""

    def body(self, x):
        for i in (0, 0, 1, 0):
            x = mx.tanh(self.layers[i](x))
        return x


class SeeingTower(Plain):
    """A module under the name of a vision tower that every token goes through."""

    def extra(self):
        self.vision_tower = nn.Linear(WIDE, WIDE, bias=False)

    def body(self, x):
        return super().body(self.vision_tower(x))


class RotatedHead(Plain):
    """A rotation before a head that is kept the other way round, and no head's name for either."""

    def extra(self):
        del self.lm_head
        self.rotation = mx.zeros((WIDE, WIDE))
        self.unembed = mx.zeros((WIDE, WORDS))

    def out(self, x):
        return (x @ self.rotation) @ self.unembed


class TwoHeads(Plain):
    """Tied, and a head of its own besides: both are added."""

    def out(self, x):
        return self.lm_head(x) + self.embed_tokens.as_linear(x)


class HalfAHead(Plain):
    """Only the first half of the head's rows is ever multiplied."""

    def out(self, x):
        return x @ self.lm_head.weight[: WORDS // 2].T


class TwoChoices(Plain):
    """Two groups of experts with another k each."""

    def extra(self):
        self.gate = nn.Linear(WIDE, 8, bias=False)
        self.few = SwitchLinear(WIDE, WIDE, 8, bias=False)
        self.many = SwitchLinear(WIDE, WIDE, 8, bias=False)

    def body(self, x):
        order = mx.argsort(self.gate(x), axis=-1)
        for experts, k in ((self.few, 1), (self.many, 4)):
            x = x + experts(x[..., None, None, :], order[..., :k]).squeeze(-2).sum(axis=-2)
        return super().body(x)


class AllBlended(Plain):
    """Experts that are blended into one matrix before use: all of them are read."""

    def extra(self):
        self.gate = nn.Linear(WIDE, 8, bias=False)
        self.experts = mx.zeros((8, WIDE, WIDE))

    def body(self, x):
        weights = mx.softmax(self.gate(x), axis=-1)
        blended = (weights[0, -1][:, None, None] * self.experts).sum(axis=0)
        return super().body(x @ blended)


class SameLayerTwice(Plain):
    """Two names for one module, as a list of shared blocks has them: the last one loaded is used."""

    def extra(self):
        shared = nn.Linear(WIDE, WIDE, bias=False)
        self.layers = [shared, shared]


class Idle(Plain):
    """Computed, and thrown away."""

    def extra(self):
        self.probe = nn.Linear(WIDE, WIDE, bias=False)

    def body(self, x):
        self.probe(x)
        return super().body(x)


EXPECTED = {
    TokenPairs: (LEAN, {"pairs": ("lookup", ROW)}),
    TallTable: (LEAN, {"columns": ("lookup", ROW)}),
    UnevenLoop: (LEAN + 2 * SQUARE, {"layers.0.weight": ("full", 3), "layers.1.weight": ("full", 1)}),
    SeeingTower: (LEAN + SQUARE, {"vision_tower.weight": ("full", 1)}),
    RotatedHead: (LEAN + SQUARE, {"rotation": ("full", 1), "unembed": ("full", 1)}),
    TwoHeads: (LEAN + TABLE, {"embed_tokens.weight": ("full", 1), "lm_head.weight": ("full", 1)}),
    HalfAHead: (2 * SQUARE + TABLE // 2, {"lm_head.weight": ("full", 1)}),
    TwoChoices: (LEAN + 8 * ROW + 5 * SQUARE, {"few.weight": ("experts", 1), "many.weight": ("experts", 1)}),
    AllBlended: (LEAN + 8 * ROW + 8 * SQUARE, {"experts": ("full", 1)}),
    SameLayerTwice: (LEAN, {"layers.0.weight": ("never", 0), "layers.1.weight": ("full", 2)}),
    Idle: (LEAN, {"probe.weight": ("never", 0)}),
}
"""Model -> weight bytes a token, and {tensor: (kind, reads; of a look-up its bytes)}."""


def saved(model_class):
    tensors = {n: ("F32", a.shape) for n, a in tree_flatten(model_class(None).parameters())}
    return checkpoint(tensors, {"model_type": NAME, "hidden_size": WIDE, "vocab_size": WORDS})


@pytest.mark.parametrize("model_class", EXPECTED, ids=lambda model_class: model_class.__name__)
def test_the_graph_finds_what_no_rule_knows(model_class):
    weight_bytes, tensors = EXPECTED[model_class]
    with taught_to_mlx_lm(model_class):
        reading = look(saved(model_class))[0]
    assert reading.weight_bytes == weight_bytes
    by_name = {read.name: read for read in reading.reads}
    for name, (kind, figure) in tensors.items():
        read = by_name[name]
        assert (read.kind, read.lookup_bytes if kind == "lookup" else read.reads) == (kind, figure)


@pytest.mark.parametrize("model_class", [SeeingTower, UnevenLoop, TwoHeads, Idle, HalfAHead])
def test_what_the_count_misjudges_is_listed_and_in_force(model_class):
    found = saved(model_class)
    with taught_to_mlx_lm(model_class):
        agreement = compare(count(found), look(found)[0])
    assert agreement.status is Status.DIFFERS
    assert agreement.bytes_in_force == EXPECTED[model_class][0]
    listed = {one.pattern for one in agreement.disagreements}
    assert listed & set(EXPECTED[model_class][1])


class Hasty(Plain):
    """Lets the prefill pass and evaluates in the decode step."""

    def body(self, x):
        if x.shape[1] == 1:
            mx.eval(x)
        return super().body(x)


class Curious(Plain):
    """Branches on a weight, in the decode step only."""

    def out(self, x):
        if x.shape[1] == 1 and self.lm_head.weight[0, 0] > 0:
            x = -x
        return super().out(x)


@pytest.mark.parametrize("model_class", [Hasty, Curious])
def test_an_evaluation_in_the_decode_step_alone_is_stopped_too(model_class):
    with taught_to_mlx_lm(model_class), pytest.raises(WorkerError) as failure:
        look(saved(model_class))
    assert failure.value.code == "evaluates"


def test_a_tensor_of_another_type_than_its_neighbours_counts_by_its_own_bytes():
    found = saved(Plain)
    mixed = [
        t._replace(dtype="BF16", nbytes=t.nbytes // 2) if "layers.0" in t.name else t for t in found.tensors
    ]
    with taught_to_mlx_lm(Plain):
        reading = look(replace(found, tensors=tuple(mixed)))[0]
    assert reading.weight_bytes == LEAN - SQUARE // 2
