"""The vocabulary matrices: which one is read in full, proven by structure before names.

Exactly one is: the head if a head tensor exists, else the table. Everything else with a row per token is looked
up. Each stands outside the decoder stack and has one row per vocabulary entry.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workbench.accounting.modules import is_draft, modality
from workbench.accounting.names import Path, words_of
from workbench.accounting.survey import Pattern, Survey
from workbench.checkpoint.checkpoint import Finding
from workbench.checkpoint.model_config import ModelConfig

TABLE_NAMES = frozenset(
    {
        "embed_tokens",
        "wte",
        "word_embeddings",
        "word_embedding",
        "tok_embeddings",
        "token_embeddings",
        "token_embedding",
        "embeddings",
        "embedding",
        "embed_in",
        "embed",
        "token_embd",
        "shared",
    }
)
HEAD_NAMES = frozenset(
    {"lm_head", "output", "embed_out", "head", "output_layer", "output_projection", "logits"}
)
TABLE_WORDS = frozenset({"embed", "embedding", "embeddings", "embd", "wte", "embedder", "embedders"})
NOT_TABLE_WORDS = frozenset({"norm", "proj", "projection", "projs", "layer", "layernorm"})


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Module path -> what it is. `read` is the one matrix a step reads in full ("" if there is none)."""

    tables: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    read: str = ""
    tied: bool = False
    findings: tuple[Finding, ...] = ()
    refusal: Finding | None = None
    rows: Mapping[str, int] = field(default_factory=dict)


def find_vocabulary(survey: Survey, config: ModelConfig) -> Vocabulary:
    """Look for the matrices in the language model first, and in towers only if it has none."""
    outside = [p for p in survey.patterns if p.path.position is None and not is_draft(p.path)]
    tables, heads = _candidates([p for p in outside if modality(p.path) is None], config)
    if not tables and not heads:
        towers = [p for p in outside if modality(p.path) is not None and config.vocab in p.shape]
        tables, heads = _candidates(towers, config)
    return _decide(tables, heads, config)


def _candidates(
    patterns: Iterable[Pattern], config: ModelConfig
) -> tuple[dict[str, Pattern], dict[str, Pattern]]:
    modules: dict[str, Pattern] = {}
    for pattern in patterns:
        module = ".".join(pattern.path.module)
        if len(pattern.shape) == 2 and (module not in modules or pattern.bytes > modules[module].bytes):
            modules[module] = pattern
    tables, heads, unnamed = {}, {}, {}
    for module, pattern in modules.items():
        path = pattern.path
        if path.last in TABLE_NAMES:
            tables[module] = pattern
        elif not HEAD_NAMES.isdisjoint(path.module) and not words_of(path.last) & {"norm"}:
            heads[module] = pattern
        elif config.vocab and config.vocab in pattern.shape:
            unnamed[module] = pattern
    for module, pattern in unnamed.items():
        if _is_table(pattern.path):
            if not tables:
                tables[module] = pattern
        elif not heads and tables:
            heads[module] = pattern
        elif not tables:
            tables[module] = pattern
    return tables, heads


def _is_table(path: Path) -> bool:
    words = words_of(path.last)
    return bool(words & TABLE_WORDS)


def _decide(tables: dict[str, Pattern], heads: dict[str, Pattern], config: ModelConfig) -> Vocabulary:
    findings: list[Finding] = []
    refusal = None
    rows = {module: _rows(pattern, config) for module, pattern in (tables | heads).items()}
    largest = max(tables, key=lambda module: tables[module].bytes, default="")
    read, tied = next(iter(heads), ""), False
    if len(heads) > 1:
        names = " and ".join(sorted(heads)[:4])
        refusal = Finding(
            "two_heads",
            f"{len(heads)} output heads ({names}): a step reads one of them. Say which with an override.",
        )
    elif heads and tables and config.tie is True:
        read, tied = largest, True
        findings.append(
            Finding(
                "tie_flag",
                f"config.json ties the embedding to the head, but {next(iter(heads))} is stored too: one of the two "
                "matrices is read, the other is not counted.",
            )
        )
    elif not heads and tables:
        read, tied = largest, True
        if config.tie is False:
            findings.append(
                Finding(
                    "tie_flag",
                    "config.json says that the head is untied, but no head tensor is stored: the embedding "
                    f"{largest} is counted as the head.",
                )
            )
    elif not heads:
        refusal = Finding(
            "no_vocabulary",
            "No embedding and no output head among the tensors: this is not a whole language model, and no step "
            "can be counted.",
        )
    if config.tie_conflict:
        findings.append(
            Finding(
                "tie_conflict",
                "config.json contradicts itself about tie_word_embeddings: the headers decide "
                f"({'tied' if tied else 'untied'}).",
            )
        )
    if tied and len(tables) > 1:
        findings.append(
            Finding(
                "two_tables",
                f"{len(tables)} vocabulary tables and no head: the largest, {largest}, is counted as the head.",
            )
        )
    return Vocabulary(tuple(tables), tuple(heads), read, tied, tuple(findings), refusal, rows)


def _rows(pattern: Pattern, config: ModelConfig) -> int:
    if config.vocab and config.vocab in pattern.shape:
        return config.vocab
    return max(1, pattern.shape[0])
