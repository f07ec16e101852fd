"""Rules for what has a row per token: the vocabulary matrices, and the tables that are looked up."""

from workbench.accounting.names import words_of
from workbench.accounting.roles import Role
from workbench.accounting.rules.rule import Facts, Subject, rule
from workbench.accounting.verdict import Verdict, one_row, unread, whole
from workbench.accounting.vocabulary import HEAD_NAMES, NOT_TABLE_WORDS, TABLE_WORDS

POSITION_WORDS = frozenset({"position", "positions", "pos", "wpe"})
NGRAM_WORDS = frozenset({"ngram", "engram"})
INTEGERS = frozenset({"I32", "I64", "U32", "U64"})


@rule("head", "The output head is multiplied by every token: the whole matrix is read.")
def head(subject: Subject, facts: Facts) -> Verdict | None:
    """The one vocabulary matrix that is read, where it has a tensor of its own."""
    vocabulary, module = facts.vocabulary, _module(subject)
    if not module or module not in vocabulary.heads:
        return None
    ambiguous = vocabulary.refusal is not None
    return whole(Role.HEAD) if ambiguous or (module == vocabulary.read and not vocabulary.tied) else None


@rule("tied-embedding", "The embedding is the output head as well: the whole matrix is read.")
def tied_embedding(subject: Subject, facts: Facts) -> Verdict | None:
    """The one vocabulary matrix that is read, where head and table share it."""
    vocabulary = facts.vocabulary
    return whole(Role.EMBEDDING) if vocabulary.tied and _module(subject) == vocabulary.read else None


@rule("unused-head", "A head beside a tied embedding: one of the two is read, and it is the other.")
def unused_head(subject: Subject, facts: Facts) -> Verdict | None:
    """Stored twice; the runtime drops one."""
    return unread(Role.HEAD) if _module(subject) in facts.vocabulary.heads else None


@rule("input-embedding", "The input embedding is looked up: one row per token.")
def input_embedding(subject: Subject, facts: Facts) -> Verdict | None:
    """Every vocabulary table that is not the head."""
    rows = facts.vocabulary.rows.get(_module(subject))
    return one_row(Role.EMBEDDING, rows) if rows else None


@rule("head-bias", "The output head's bias: every token reads it.")
def head_bias(subject: Subject, _: Facts) -> Verdict | None:
    """Where the head itself is the embedding."""
    beside = subject.layer is None and len(subject.shape) == 1 and subject.path.last in HEAD_NAMES
    return whole(Role.HEAD) if beside else None


@rule("position-table", "A position table is looked up: one row per token.")
def position_table(subject: Subject, _: Facts) -> Verdict | None:
    """Learned positions, outside the layers."""
    words = words_of(subject.path.last)
    if (
        subject.layer is not None
        or len(subject.shape) != 2
        or not words & POSITION_WORDS
        or words & NOT_TABLE_WORDS
    ):
        return None
    return one_row(Role.POSITION, subject.shape[0])


@rule("lookup-table", "A per-layer, n-gram or hash table is looked up: one row per token.")
def lookup_table(subject: Subject, facts: Facts) -> Verdict | None:
    """Further embeddings outside the layers; n-gram tables and each word's list of experts in them."""
    path = subject.path
    if subject.layer is not None and not path.parameter and subject.group.pattern.dtype in INTEGERS:
        listed = len(subject.shape) == 2 and subject.shape[0] == facts.config.vocab
        return one_row(Role.ROUTER, subject.shape[0]) if listed else None
    words = words_of(path.last)
    inside = subject.layer is not None and not path.inner_words & NGRAM_WORDS
    per_layer = {"per", "layer"} <= words and not words & {"norm", "proj", "projection"}
    if (
        inside
        or len(subject.shape) != 2
        or not words & TABLE_WORDS
        or (words & NOT_TABLE_WORDS and not per_layer)
    ):
        return None
    return one_row(Role.EMBEDDING, subject.shape[0])


def _module(subject: Subject) -> str:
    return ".".join(subject.path.module) if subject.path.position is None else ""
