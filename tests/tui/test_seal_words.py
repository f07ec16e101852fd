"""The seal's sentence: what must not be said, and what must not be left out."""

from workbench.tui.seal import Looked, seal_words
from workbench.witness.agreement import Agreement, Disagreement, Status

SEEN = {"at_context": 209, "mlx_lm": "0.32.2"}


def agreeing(**more):
    fields = {"graph_bytes": 1_000_000, "difference": 0.0} | SEEN | more
    return Looked(Agreement(Status.AGREES, 1_000_000, **fields))


def test_an_agreement_is_short():
    assert seal_words(agreeing()) == "✓ count and graph agree: 1.000 MB at context 209, mlx-lm 0.32.2"


def test_tensors_that_even_out_or_weigh_little_are_not_kept_quiet():
    swapped = tuple(Disagreement(name, "head", "full", 1, 5, 0) for name in ("a", "b"))
    assert seal_words(agreeing(disagreements=swapped)).endswith("; 2 tensors are read otherwise")
    assert seal_words(agreeing(disagreements=swapped[:1])).endswith("; 1 tensor is read otherwise")


def test_an_assumed_routing_is_said():
    assert seal_words(agreeing(assumed_routing=True)).endswith("; its routing was assumed")


def test_a_refused_count_has_no_ceiling_to_give_to_the_graph():
    refused = Agreement(
        Status.DIFFERS, 2_000_000, graph_bytes=1_000_000, difference=-0.5, refused=True, **SEEN
    )
    words = seal_words(Looked(refused))
    assert words == "✗ the count was refused; the graph reads 1.000 MB at context 209, mlx-lm 0.32.2"
