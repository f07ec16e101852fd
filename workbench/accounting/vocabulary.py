"""The vocabulary matrices: which one is read in full, proven by structure before names.

Exactly one is: the head if a head tensor exists, else the table. They stand outside the decoder stack and
have one row per vocabulary entry. mlx-lm's loaders drop a stored head where config.json ties it to the table.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from workbench.accounting.modules import ATTENTION_WORDS, FEED_FORWARD_WORDS, is_draft, modality
from workbench.accounting.names import words_of
from workbench.accounting.survey import Pattern, Survey
from workbench.checkpoint.checkpoint import Finding
from workbench.checkpoint.model_config import ModelConfig
from workbench.escape import visible

TABLE_NAMES = frozenset(
    {"embed_tokens", "wte", "word_embeddings", "word_embedding", "tok_embeddings", "token_embeddings"}
    | {"token_embedding", "embeddings", "embedding", "embed_in", "embed", "token_embd", "shared"}
)
HEAD_NAMES = frozenset(
    {"lm_head", "output", "embed_out", "head", "output_layer", "output_projection", "unembedding", "ff_out"}
)
TABLE_WORDS = frozenset({"embed", "embedding", "embeddings", "embd", "wte", "embedder", "embedders", "table"})
LAYER_WORDS = ATTENTION_WORDS | FEED_FORWARD_WORDS
NOT_TABLE_WORDS = frozenset({"norm", "layernorm", "proj", "projs", "projection", "layer", "gate"})


class Vocabulary(NamedTuple):
    """Module paths by what they are; `rows` has the vocabulary rows of each.

    `read` is the one matrix that a step reads in full ("" if there is none), `tied` whether it is a table.
    """

    heads: tuple[str, ...] = ()
    read: str = ""
    tied: bool = False
    rows: Mapping[str, int] = MappingProxyType({})
    findings: tuple[Finding, ...] = ()
    refusal: Finding | None = None


def find_vocabulary(survey: Survey, config: ModelConfig) -> Vocabulary:
    """Look for the matrices in the language model first, and elsewhere only if it has no table."""
    outside = [p for p in survey.patterns if p.path.position is None and not is_draft(p.path)]
    tables, heads = _candidates([p for p in outside if modality(p.path) is None], config)
    if not tables:
        tables, others = _candidates([p for p in outside if config.vocab in p.shape], config)
        heads = heads or others
    return _decide(tables, heads, config)


def _candidates(
    patterns: Iterable[Pattern], config: ModelConfig
) -> tuple[dict[str, Pattern], dict[str, Pattern]]:
    """Tables and heads: by name, and the unnamed by having as many rows as the named."""
    matrices: dict[str, Pattern] = {}
    for pattern in patterns:
        module = ".".join(pattern.path.module)
        if len(pattern.shape) >= 2 and (module not in matrices or pattern.bytes > matrices[module].bytes):
            matrices[module] = pattern
    tables: dict[str, Pattern] = {}
    heads: dict[str, Pattern] = {}
    for module, pattern in matrices.items():
        if pattern.path.last in TABLE_NAMES and len(pattern.shape) == 2:
            tables[module] = pattern
        elif not HEAD_NAMES.isdisjoint(pattern.path.module):
            heads[module] = pattern
    rows = {matrices[module].shape[0] for module in (*tables, *heads)} | {config.vocab}
    for module, pattern in matrices.items():
        known = module in tables or module in heads
        if known or len(pattern.shape) != 2 or pattern.shape[0] not in rows or _in_a_layer(pattern):
            continue
        if not tables:
            tables[module] = pattern
        elif not heads and ("head" in words_of(pattern.path.last) or not _names_a_table(pattern)):
            heads[module] = pattern
    return tables, heads


def _names_a_table(pattern: Pattern) -> bool:
    return bool(words_of(pattern.path.last) & TABLE_WORDS)


def _in_a_layer(pattern: Pattern) -> bool:
    """Layers outside any list (a draft model's only one) have matrices of any height."""
    return any(words_of(segment) & LAYER_WORDS for segment in pattern.path.module)


def _decide(tables: dict[str, Pattern], heads: dict[str, Pattern], config: ModelConfig) -> Vocabulary:
    if len(heads) > 1 and tables:
        heights = {pattern.shape[0] for pattern in tables.values()}
        heads = {module: p for module, p in heads.items() if p.shape[0] in heights} or heads
    rows = {module: pattern.shape[0] for module, pattern in (tables | heads).items()}
    findings: list[Finding] = []
    refusal = None
    largest = max(tables, key=lambda module: tables[module].bytes, default="")
    read, tied = next(iter(heads), ""), False
    if len(heads) > 1:
        refusal = _two_heads(sorted(heads))
    elif heads and tables and config.tie is True:
        read, tied = largest, True
        findings.append(_head_beside_tie(next(iter(heads))))
    elif not heads and tables:
        read, tied = largest, True
        if config.tie is False:
            findings.append(_no_head(largest))
        if len(tables) > 1:
            findings.append(_two_tables(len(tables), largest))
    elif not heads:
        refusal = _NO_VOCABULARY
    elif not tables:
        findings.append(_no_table(read))
    elif heads[read].path.parameter == "weight" and 20 * rows[read] < 19 * rows[largest]:
        findings.append(_short_head(read, rows[read], rows[largest]))
    if config.tie_conflict:
        findings.append(_conflict(tied))
    return Vocabulary(tuple(heads), read, tied, rows, tuple(findings), refusal)


_NO_VOCABULARY = Finding(
    "no_vocabulary",
    "No embedding and no output head among the tensors: this is no whole language model, and no step of it "
    "can be counted.",
)


def _two_heads(heads: list[str]) -> Finding:
    names = ", ".join(visible(head, 80) for head in heads[:4])
    return Finding(
        "two_heads",
        f"{len(heads)} output heads ({names}): a step reads one of them. Give the other share "
        "0 with an override.",
    )


def _head_beside_tie(head: str) -> Finding:
    return Finding(
        "tie_flag",
        f"config.json ties the embedding to the head, but {visible(head, 80)} is stored too: one of the two "
        "matrices is read, and one is counted.",
    )


def _no_head(table: str) -> Finding:
    return Finding(
        "tie_flag",
        f"config.json says that the head is its own tensor, but none is stored: {visible(table, 80)} is "
        "counted as the head.",
    )


def _no_table(head: str) -> Finding:
    return Finding(
        "no_table",
        f"No embedding is stored beside the head {visible(head, 80)}: the row that a token looks up is not "
        "counted, and a whole model has one.",
    )


def _short_head(head: str, rows: int, table_rows: int) -> Finding:
    return Finding(
        "short_head",
        f"The head {visible(head, 80)} has {rows:,} rows, the embedding {table_rows:,}: if rows are missing, "
        "the count is too low.",
    )


def _two_tables(tables: int, largest: str) -> Finding:
    return Finding(
        "two_tables",
        f"{tables} vocabulary tables and no head: the largest, {visible(largest, 80)}, is counted as the "
        "head.",
    )


def _conflict(tied: bool) -> Finding:
    return Finding(
        "tie_conflict",
        "config.json contradicts itself about tie_word_embeddings: the headers decide "
        f"({'tied' if tied else 'untied'}).",
    )
