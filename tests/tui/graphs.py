"""Readings of a decode graph, made from a count: one that agrees with it, and one that does not."""

from workbench.accounting.roles import Role
from workbench.tui.seal import Looked
from workbench.witness.agreement import compare
from workbench.witness.reasons import NotWitnessed, Reason, not_witnessed
from workbench.witness.result import GraphReading, TensorRead

MLX_LM = "0.32.2"


def reading(count, context=209, twice=()):
    """The graph reads what the count says, but every tensor whose name holds a word of `twice` two times."""
    reads = []
    for row in count.rows:
        times = 2 if any(word in row.name for word in twice) else 1
        kind = "never" if not row.weight_bytes else "experts" if row.role is Role.EXPERT else "full"
        reads.append(
            TensorRead(row.name, kind, row.weight_bytes * times, row.lookup_bytes, row.resident_bytes, times)
        )
    return GraphReading(
        context=context,
        weight_bytes=count.weight_bytes + sum(g.weight_bytes // 2 for g in reads if g.reads == 2),
        lookup_bytes=count.lookup_bytes,
        resident_bytes=count.resident_bytes,
        context_read_bytes=count.context.at(context + 1).read_bytes,
        reads=reads,
        mlx_lm=MLX_LM,
    )


def agreeing(count):
    """The seal of a graph that agrees."""
    return Looked(compare(count, reading(count)))


def differing(count, *twice):
    """The seal of a graph that reads some tensors twice."""
    return Looked(compare(count, reading(count, twice=twice or ("self_attn",))))


def unwitnessed(count, reason=Reason.UNSUPPORTED_TYPE, detail="qwen9"):
    """The seal of a count without a graph."""
    return Looked(compare(count, not_witnessed(reason, detail)))


class ScriptedGraph:
    """Stands in for the witness: answers as it is told, counts its calls, waits where it is told to."""

    def __init__(self):
        self.twice = ()
        self.answer = None
        self.asked = []
        self.cancelled = 0
        self.gate = None

    async def witness(self, checkpoint, contexts=(209,), **_):
        """As `protocol.witnessing.witness`."""
        from asyncio import CancelledError

        from workbench.accounting.engine import count
        from workbench.protocol.witnessing import Witnessed

        self.asked.append(checkpoint.name)
        try:
            if self.gate is not None:
                await self.gate.wait()
        except CancelledError:
            self.cancelled += 1
            raise
        if isinstance(self.answer, NotWitnessed):
            return self.answer
        if isinstance(self.answer, Exception):
            raise self.answer
        return Witnessed(tuple(reading(count(checkpoint), one, self.twice) for one in contexts))
