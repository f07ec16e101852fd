"""The plan of one run group: what is fixed before a number is said.

Data and pure questions about it. No process, no file and no clock belong here.
"""

from dataclasses import dataclass, field
from math import inf
from typing import Literal
from uuid import uuid4

from workbench.accounting.count import Count
from workbench.accounting.ruling import Ruling, weight_bytes_by_rule
from workbench.checkpoint.checkpoint import Checkpoint, State
from workbench.errors import CheckpointError, UsageError
from workbench.ledger.parts import FitEstimate, Witness
from workbench.prediction.ceiling import BandwidthFigure
from workbench.worker.messages import DecodeRequest

RULES = tuple(str(ruling) for ruling in Ruling)
"""The rules that `--rule` knows; the first is the one to use."""

InForce = Literal["count", "graph", "override"]

LEAST_SETTLE_S, MOST_SETTLE_S = 2.0, 10.0
MOST_EDGE_S = 3.0


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run group measures. Times in seconds, counts in tokens.

    `energy_min_s` above 0 asks for an energy pass with a window of that length after the repeats, with
    `idle_s` of idle before it. `ui_hz` is how often the screen paints (None: nothing paints), `blind` that it
    painted nothing.
    """

    prompt_tokens: int = 209
    max_tokens: int = 200
    warmup_tokens: int = 8
    repeats: int = 3
    cooldown_s: float = 0.0
    seed: int = 0
    prefill_step_size: int = 2048
    text: bool = False
    warm_until_stable: bool = False
    idle_s: float = 0.0
    energy_min_s: float = 0.0
    ui_hz: float | None = None
    blind: bool = False

    def __post_init__(self) -> None:
        if self.max_tokens < 2:
            raise UsageError(
                f"A decode rate needs at least 2 tokens, not {self.max_tokens}.", "Use --tokens 200."
            )
        if self.repeats < 1:
            raise UsageError(f"A run needs at least 1 repeat, not {self.repeats}.", "Use --repeats 3.")
        if self.prompt_tokens < 1 or self.warmup_tokens < 0 or not 0 <= self.cooldown_s < inf:
            raise UsageError("Prompt tokens begin at 1; warm-up tokens and the cool-down cannot be negative.")

    @property
    def settle_s(self) -> float:
        """Rest before the idle window: heat and boosted clocks go down, and meters have started."""
        return min(MOST_SETTLE_S, max(LEAST_SETTLE_S, self.idle_s / 2)) if self.idle_s > 0 else 0.0

    @property
    def edge_s(self) -> float:
        """Decoding before and after the energy window: power sensors lag by up to about 3 s."""
        return min(MOST_EDGE_S, 0.3 * self.energy_min_s)

    @property
    def energy_pass_s(self) -> float:
        """How long the energy pass takes altogether, 0 where none is asked for."""
        if self.energy_min_s <= 0:
            return 0.0
        return self.settle_s + self.idle_s + 2 * self.edge_s + self.energy_min_s


@dataclass(frozen=True, slots=True)
class Plan:
    """One run group's plan: stamp and count are behind it, the prediction is yet to come.

    `bandwidths` are the figures that make ceilings, the principal one first. `graph_bytes` is the graph
    witness's bytes per token when the graph is in force; `witness` is its row in the record. Overrides are in
    the count already.
    """

    checkpoint: Checkpoint
    count: Count
    bandwidths: tuple[BandwidthFigure, ...] = ()
    rule: str = "count"
    settings: RunSettings = field(default_factory=RunSettings)
    experiment: str = "single"  # single, ladder, energy, demo
    run_group_id: str = field(default_factory=lambda: str(uuid4()))
    alias: str | None = None
    command: tuple[str, ...] = ()
    graph_bytes: int | None = None
    witness: Witness = field(default_factory=Witness)
    fit_estimate: FitEstimate | None = None
    page_cache: str = "unknown"  # cold, warm, unknown

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise UsageError(f"There is no rule {self.rule!r}.", f"Rules: {', '.join(RULES)}.", code="rule")

    @property
    def in_force(self) -> InForce:
        """What decides the bytes under the rule `count`: an override, else the graph, else the count."""
        if self.count.is_overridden:
            return "override"
        return "count" if self.graph_bytes is None else "graph"

    @property
    def weight_bytes(self) -> int:
        """Weight bytes per token by the plan's rule: what the ceiling divides by."""
        return self.weight_bytes_by(self.rule)

    def weight_bytes_by(self, rule: str) -> int:
        """Weight bytes per token by any of `RULES`."""
        return weight_bytes_by_rule(rule, self.checkpoint, self.count, self.graph_bytes)

    @property
    def needed_bytes(self) -> int:
        """What the run needs in memory: the resident weights and the context at its end."""
        return self.count.resident_bytes + self.count.context.at(self.end_tokens).stored_bytes

    @property
    def end_tokens(self) -> int:
        """Tokens in the context when the last one is decoded."""
        return self.settings.prompt_tokens + self.settings.max_tokens

    @property
    def decode_request(self) -> DecodeRequest:
        """What the worker is asked once the prediction is locked."""
        s = self.settings
        return DecodeRequest(
            path=str(self.checkpoint.path),
            prompt_tokens=s.prompt_tokens,
            max_tokens=s.max_tokens,
            warmup_tokens=s.warmup_tokens,
            repeats=s.repeats,
            cooldown_s=s.cooldown_s,
            seed=s.seed,
            prefill_step_size=s.prefill_step_size,
            text=s.text,
            warm_until_stable=s.warm_until_stable,
            settle_s=s.settle_s,
            idle_s=s.idle_s,
            energy_min_s=s.energy_min_s,
            edge_s=s.edge_s,
        )


def require_runnable(plan: Plan) -> None:
    """Raise CheckpointError where the plan's checkpoint cannot be run or its count predicts nothing."""
    checkpoint, count = plan.checkpoint, plan.count
    if checkpoint.state is not State.COMPLETE:
        reason = checkpoint.reason.rstrip(".") or "no reason given"
        raise CheckpointError(
            f"{checkpoint.name} cannot be run: it is {checkpoint.state} ({reason}).",
            "Complete or replace the checkpoint; `workbench models` lists those that can be run.",
            code=f"checkpoint_{checkpoint.state.value.replace(' ', '_')}",
        )
    if checkpoint.format != "safetensors":
        raise CheckpointError(
            f"{checkpoint.name} is {checkpoint.format}: it can be counted, but mlx-lm loads safetensors.",
            "Choose a safetensors checkpoint of the same model.",
            code="checkpoint_not_loadable",
        )
    # A refusal stays in an overridden count: whoever named its tensors with a reason answers for them.
    if count.refusal is not None and not count.is_overridden:
        raise CheckpointError(
            f"{checkpoint.name} has no honest count: {count.refusal.message}",
            "Run `workbench audit` on it and correct the tensors with an override file.",
            code=count.refusal.code,
        )
    if plan.weight_bytes <= 0:
        raise CheckpointError(
            f"By the rule {plan.rule}, a token of {checkpoint.name} reads no bytes at all.",
            "Run `workbench bytes` on it to see what was counted.",
            code="nothing_counted",
        )


def expected_seconds(plan: Plan, tps: float) -> float:
    """Seconds of decoding that the plan asks for at a person's own `tps` tok/s.

    Warm-up, every repeat, the cool-downs and the whole energy pass are in it; loading and prefill are not:
    nothing is known of them before a run.
    """
    s = plan.settings
    decoding_s = (s.warmup_tokens + s.repeats * s.max_tokens) / tps
    return decoding_s + s.cooldown_s * (s.repeats - 1) + s.energy_pass_s
