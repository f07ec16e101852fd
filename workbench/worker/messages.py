"""What the UI process and a worker say to each other: one JSON object a line, told apart by `type`.

The UI writes exactly one request on the worker's stdin and then keeps it open: end of file means
"the UI is gone", and the worker exits. A worker first says `Ready`, at most ten messages a second while it
works, and ends with `Finished` or `Failed`.
"""

import msgspec

from workbench.witness.result import GraphReading


class Message(msgspec.Struct, frozen=True, tag_field="type", tag=True, omit_defaults=True):
    """Common form: the class name is the tag."""


class Stamp(msgspec.Struct, frozen=True):
    """Who measures with what. Null where the backend does not say; sizes in bytes."""

    device: str | None = None
    architecture: str | None = None
    backend: str | None = None  # "metal", "cuda" or "cpu"
    memory_bytes: int | None = None
    recommended_working_set_bytes: int | None = None
    mlx: str | None = None
    mlx_lm: str | None = None
    transformers: str | None = None


# --- requests, UI to worker ---------------------------------------------------------------------------------


class DecodeRequest(Message, frozen=True):
    """Load `path`, warm up, measure. Sent only after the prediction is locked and on disk."""

    path: str
    prompt_tokens: int = 209
    max_tokens: int = 200
    warmup_tokens: int = 8
    repeats: int = 3
    cooldown_s: float = 0.0
    seed: int = 0
    prefill_step_size: int = 2048
    text: bool = False
    progress_hz: float = 10.0
    warm_until_stable: bool = False
    settle_s: float = 0.0  # rest before the idle window: the machine cools down, meters start
    idle_s: float = 0.0  # > 0: hold the loaded model idle this long before the energy pass
    energy_min_s: float = 0.0  # > 0: one more pass, decoding until this many seconds are in the window
    edge_s: float = 0.0  # of decoding before and after that window


class ProbeRequest(Message, frozen=True):
    """Measure the achieved memory bandwidth. `bytes` 0 lets the job choose a size beyond every cache."""

    bytes: int = 0
    repeats: int = 8
    quick: bool = True  # only the reductions that reach the memory's limit; False runs every kernel


class SynthesizeRequest(Message, frozen=True):
    """Build the named synthetic checkpoints below `directory`; those that exist are left alone."""

    directory: str
    names: list[str]


class StampRequest(Message, frozen=True):
    """Say the stamp and exit."""


class TraceRequest(Message, frozen=True):
    """Witness the decode graph from config and headers, at each context (tokens before the step).

    `folder` is private to this request and may be written to. It holds config.json, headers.json (rows of
    name, dtype, shape, bytes) and, where the checkpoint has one, hf_quant_config.json; with `path`, the
    directory of a local checkpoint, the job reads all of this from there.
    """

    folder: str
    contexts: list[int]
    path: str = ""


class DamageRequest(Message, frozen=True):
    """Damage groups of tensors of a local checkpoint, one after the other, and look at one real step each."""

    path: str
    groups: dict[str, list[str]]  # label -> names of tensors in the file
    seed: int = 0


# --- messages, worker to UI ---------------------------------------------------------------------------------


class Ready(Message, frozen=True):
    """Libraries are imported; the worker waits for its request."""

    stamp: Stamp
    pid: int


class Loading(Message, frozen=True):
    """The model is being loaded; `at_ns` is `time.time_ns()` when it began."""

    at_ns: int


class Loaded(Message, frozen=True):
    """The model is in memory."""

    load_s: float
    prompt_sha256: str
    prompt_tokens: int


class Warmed(Message, frozen=True):
    """One warm-up pass ended; its tokens are thrown away. `steady`: its rate is that of the pass before."""

    passes: int
    tokens: int
    tps: float | None = None
    steady: bool = False


class RepeatStarted(Message, frozen=True):
    """Repeat `index` (from 0) of `of` begins with its prefill."""

    index: int
    of: int


class Progress(Message, frozen=True):
    """Live view of the running repeat; may be dropped. Rates follow the (n-1)/(t_n - t_1) rule."""

    index: int
    tokens: int
    elapsed_s: float  # since the first token
    tps_now: float | None = None
    tps_mean: float | None = None
    text: str = ""


class Repeat(msgspec.Struct, frozen=True):
    """One timed repeat: the truth. Token times are `perf_counter_ns` right after each token came back."""

    index: int
    ttft_s: float
    prompt_tps: float
    token_times_ns: list[int]
    peak_memory_gb: float
    tps_mlx_lm: float | None = None  # as mlx-lm itself printed it
    text: str = ""


class RepeatDone(Message, frozen=True):
    """Repeat `repeat.index` is complete."""

    repeat: Repeat


class Idle(Message, frozen=True):
    """The idle window with the model loaded: its ends by `perf_counter_ns`, and a clock pair at each."""

    start_ns: int
    end_ns: int
    clock_pairs: list[tuple[int, int]] = []  # (perf_counter_ns, time_ns)


class EnergyWindow(Message, frozen=True):
    """The energy pass: token times as in `Repeat`, and clock pairs at its ends to align power samples with.

    The window opens at the time of token `run_in_tokens` (counted from 0) and closes at that of the last
    token before the `run_out_tokens` last ones. One decode step lies between two times, so that the window
    holds one token fewer than it has times. No prefill lies in it.
    """

    token_times_ns: list[int]
    clock_pairs: list[tuple[int, int]]  # (perf_counter_ns, time_ns)
    run_in_tokens: int
    run_out_tokens: int


class KernelBandwidth(msgspec.Struct, frozen=True):
    """One probe kernel: GB/s of the bytes it must move."""

    kernel: str
    dtype: str
    bytes: int
    batched: int
    repeats: int
    best_gbps: float
    median_gbps: float


class Probing(Message, frozen=True):
    """The probe begins with kernel number `index` (from 0) of `of`; each takes seconds."""

    kernel: str
    dtype: str
    index: int
    of: int


class Probed(Message, frozen=True):
    """The probe's result: every kernel's figures; the highest best is the achieved one."""

    kernels: list[KernelBandwidth]
    threads: int | None = None


class Synthesized(Message, frozen=True):
    """One synthetic checkpoint exists now at `path`."""

    name: str
    path: str
    built: bool


class Traced(Message, frozen=True):
    """The decode graph at one context."""

    reading: GraphReading


class Damaged(Message, frozen=True):
    """What damaging one part of a group did to the next token's logits.

    `part` is how the graph says the step reads it: read, chosen experts, other experts, looked-up rows, other
    rows, never read, not loaded; `expected` whether a logit should move then. `max_change` is the largest
    change by noise; None where a logit was no number any more.
    """

    label: str
    part: str
    tensors: int
    damaged_bytes: int
    expected: bool
    moved: bool
    max_change: float | None = None


class Finished(Message, frozen=True):
    """The job is done; nothing follows."""


class Failed(Message, frozen=True):
    """The job failed: a stable code, a sentence, and what to do."""

    code: str
    message: str
    hint: str = ""


Request = DecodeRequest | ProbeRequest | SynthesizeRequest | StampRequest | TraceRequest | DamageRequest
Report = (
    Ready
    | Loading
    | Loaded
    | Warmed
    | RepeatStarted
    | Progress
    | RepeatDone
    | Idle
    | EnergyWindow
    | Probing
    | Probed
    | Synthesized
    | Traced
    | Damaged
    | Finished
    | Failed
)
