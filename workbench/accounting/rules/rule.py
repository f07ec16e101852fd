"""What a rule is, and what it may know: a group of tensors, its place, the checkpoint's facts."""

from collections.abc import Callable
from typing import NamedTuple

from workbench.accounting.names import Path
from workbench.accounting.survey import Group, Survey
from workbench.accounting.verdict import Verdict
from workbench.accounting.vocabulary import Vocabulary
from workbench.checkpoint.model_config import ModelConfig


class Facts(NamedTuple):
    """What all rules may know of the checkpoint."""

    config: ModelConfig
    survey: Survey
    vocabulary: Vocabulary


class Subject(NamedTuple):
    """One group of tensors and where it stands.

    `layer` is its index in a stack of the language model's layers (None outside), `kind` that layer's kind,
    `main` whether the stack is the decoder's own. `beyond`: past the model's depth; `kv_shared`: in a layer
    that reads an earlier layer's cache.
    """

    group: Group
    layer: int | None = None
    kind: int = -1
    main: bool = False
    beyond: bool = False
    kv_shared: bool = False

    @property
    def path(self) -> Path:
        """The name's parts."""
        return self.group.pattern.path

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensors' shape, row-major."""
        return self.group.pattern.shape

    @property
    def in_gguf(self) -> bool:
        """Whether the tensor stands in a GGUF file's layer."""
        return self.path.stack == "blk"

    def siblings(self, facts: Facts) -> frozenset[str]:
        """All path segments inside the same block of this kind of layer."""
        return facts.survey.siblings.get((self.kind, self.path.block), frozenset())

    def layer_siblings(self, facts: Facts) -> frozenset[str]:
        """All path segments inside this kind of layer."""
        return facts.survey.siblings.get((self.kind, ""), frozenset())

    def beside_router(self, facts: Facts) -> frozenset[str]:
        """Where a router may stand: in the block, or in the whole layer where it has no blocks (GGUF)."""
        return self.layer_siblings(facts) if self.in_gguf else self.siblings(facts)


Judge = Callable[[Subject, Facts], Verdict | None]


class Rule(NamedTuple):
    """A rule's id, the plain sentence that screens print as the reason, and its function.

    The function passes with None. `judge` is None for what the engine applies itself.
    """

    id: str
    sentence: str
    judge: Judge | None = None


def rule(rule_id: str, sentence: str) -> Callable[[Judge], Rule]:
    """Make a Rule of a function."""
    return lambda judge: Rule(rule_id, sentence, judge)
