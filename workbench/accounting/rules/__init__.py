"""The rules: small functions that look at one group of tensors and say its role and share, or pass.

They are asked in the order of ORDER; the first that answers decides. Structure and configuration come before
names, and no rule knows any model's name.
"""

from collections.abc import Mapping

from workbench.accounting.roles import Role
from workbench.accounting.rules import beside, layers, tables
from workbench.accounting.rules.rule import Facts, Rule, Subject
from workbench.accounting.verdict import ONE, Verdict

ORDER: tuple[Rule, ...] = (
    beside.not_a_weight,
    beside.rotary_factors,
    beside.draft_module,
    beside.draft_layer,
    tables.head,
    tables.tied_embedding,
    tables.unused_head,
    tables.input_embedding,
    beside.projector_module,
    beside.vision_module,
    beside.audio_module,
    beside.cross_attention_layer,
    beside.encoder,
    beside.cross_attention_keys,
    beside.beside_language_model,
    tables.head_bias,
    tables.position_table,
    tables.lookup_table,
    layers.other_modality_expert,
    layers.expert_vector,
    layers.routed_expert,
    layers.shared_expert,
    layers.read_twice,
    layers.router,
    layers.dead_kv,
    layers.sparse_indexer,
    layers.norm,
    layers.linear_attention,
    layers.attention,
    layers.feed_forward,
    layers.unclassified,
)

LOOPED = Rule("looped", "The layers run several times per token, and this weight is read each time.")
OVERRIDE = Rule("override", "Set by an override, with its reason.")

RULES: Mapping[str, Rule] = {rule.id: rule for rule in (*ORDER, LOOPED, OVERRIDE)}
"""Every rule by its id, as rows carry it."""


def judge(subject: Subject, facts: Facts) -> Verdict:
    """Ask the rules in their order; loops multiply what the decoder's layers read."""
    for rule in ORDER:
        verdict = rule.judge(subject, facts) if rule.judge else None
        if verdict is not None:
            break
    else:
        verdict = Verdict(Role.OTHER, ONE)
    loops = facts.config.loops
    if loops > 1 and subject.main and verdict.share:
        return verdict._replace(share=verdict.share * loops, rule=LOOPED.id)
    return verdict._replace(rule=rule.id)
