"""The seed rule on some of the tensors: what its four rules make of a module, for a column beside the count.

The rule itself is `seedrule`; nothing is judged anew here, and nothing may be made smarter.
"""

from collections.abc import Iterable

from workbench.accounting.count import Row, SeedCount


def seed_bytes(rows: Iterable[Row], seed: SeedCount) -> int:
    """Bytes per token that the seed rule counts of these rows; `seed` is the whole checkpoint's.

    Over all rows of a count it is `seed.weight_bytes`, but for files that the count does not know.
    """
    whole = routed = 0
    for row in rows:
        name = row.name
        if "vision" in name or "visual" in name:
            continue
        if "embed_tokens" in name:
            whole += row.disk_bytes if seed.tied else 0
        elif seed.experts and ("switch_mlp" in name or ".experts." in name):
            routed += row.disk_bytes
        else:
            whole += row.disk_bytes
    return whole + (routed * seed.experts_per_token // seed.experts if seed.experts else 0)
