"""`check` on decode rates that people published: one row a claim, with its source, and what is said of it.

The bytes are counted from the checkpoint's published headers where the tests have them (a later release of
the same shapes stands for its own), else they are the claim's own figure. Bandwidths are the chip table's.
"""

import re
from dataclasses import dataclass

import pytest

from tests.checkpoints import invent
from workbench.ledger.words import percent
from workbench.prediction.chips import figures_for

GIB = 2**30
NINE, MIXTURE, LARGE = "mlx-Qwen3.5-9B-4bit", "mlx-Qwen3.5-35B-A3B-4bit", "mlx-Qwen3.5-27B-4bit"
CHIPS = {
    "M1": ("Apple M1", 8, 16),
    "M4": ("Apple M4", 10, 24),
    "M4 Pro": ("Apple M4 Pro", 20, 24),
    "M4 Max 32": ("Apple M4 Max", 32, 36),
    "M4 Max 40": ("Apple M4 Max", 40, 48),
    "M5 Max": ("Apple M5 Max", 40, 128),
    "M3 Ultra": ("Apple M3 Ultra", 80, 256),
}


@dataclass(frozen=True)
class Claim:
    """One published rate. `model` is a fixture's name, or the bytes per token that the claim states."""

    source: str
    model: str | int
    bandwidth: str  # a chip of CHIPS, or a figure in words
    rate: str
    percent: float
    verdict: str
    words: str
    options: tuple[str, ...] = ()


MTP, DFLASH = ("--draft-model", "MTP"), ("--draft-model", "DFlash")
ELSEWHERE = "or the number is of another machine, another checkpoint or more than one stream"
DRAFT = "A draft model guesses ahead"
PLAUSIBLE = "Plausible: "
CLAIMS = [
    # A README's row "24 GB MacBook Pro", measured on an M3 Ultra; the reader's own Mac, and that M3 Ultra.
    Claim("raullenchai/Rapid-MLX#567", NINE, "M4 Pro", "101", 165.2, "counting error", ELSEWHERE),
    Claim("raullenchai/Rapid-MLX#567", NINE, "M4 Pro", "43.4", 71.0, "ok", PLAUSIBLE),
    Claim("raullenchai/Rapid-MLX#567", NINE, "M3 Ultra", "101", 55.1, "ok", PLAUSIBLE),
    Claim("raullenchai/Rapid-MLX#2175", NINE, "M3 Ultra", "115.6", 63.0, "ok", PLAUSIBLE),
    Claim("raullenchai/Rapid-MLX#2175", NINE, "M3 Ultra", "120.7", 65.8, "not applicable", DRAFT, MTP),
    # A benchmark's 486 tok/s that users see as 100: a draft model, which the claim's table does not name.
    Claim("jundot/omlx#1551", MIXTURE, "M5 Max", "486.7", 131.5, "counting error", "draft model or prompt"),
    Claim("jundot/omlx#1551", MIXTURE, "M5 Max", "486.7", 131.5, "not applicable", DRAFT, DFLASH),
    Claim("jundot/omlx#1551", MIXTURE, "M5 Max", "105", 28.4, "ok", PLAUSIBLE),
    # Two rates of one M3 Ultra, over its own sustained read of 692 GB/s and its own bytes.
    Claim("jundot/omlx#2238", 32_800_000_000, "692 achieved, its own", "19.8", 93.8, "ok", PLAUSIBLE),
    Claim("jundot/omlx#2238", 32_800_000_000, "M3 Ultra", "19.8", 79.3, "ok", PLAUSIBLE),
    Claim("jundot/omlx#2238", 2_770_000_000, "692 achieved, its own", "84.5", 33.8, "ok", PLAUSIBLE),
    # One chip's name, two bandwidths: the same rate is near the limit of the 36 GB bin.
    Claim("youssofal/MTPLX#64", LARGE, "M4 Max 40", "27.24", 71.9, "ok", PLAUSIBLE),
    Claim("youssofal/MTPLX#64", LARGE, "M4 Max 32", "27.24", 95.8, "ok", PLAUSIBLE),
    # "2.24 times faster": nothing that reads the weights for each token is.
    Claim("raullenchai/Rapid-MLX#218", LARGE, "M5 Max", "63", 147.9, "counting error", ELSEWHERE),
    Claim("raullenchai/Rapid-MLX#218", LARGE, "M5 Max", "63", 147.9, "not applicable", DRAFT, MTP),
    Claim("raullenchai/Rapid-MLX#218", LARGE, "M5 Max", "28", 65.7, "ok", PLAUSIBLE),
    Claim("youssofal/MTPLX#128", LARGE, "M4 Pro", "30", 158.4, "not applicable", DRAFT, MTP),
    # A MacBook Air that warms up: its first trial and its slowest. The language model of the VLM is the same.
    Claim("ml-explore/mlx-lm#1010", "mlx-Qwen2.5-VL-7B-4bit", "M4", "21.086", 69.9, "ok", PLAUSIBLE),
    Claim("ml-explore/mlx-lm#1010", "mlx-Qwen2.5-VL-7B-4bit", "M4", "17.456", 57.9, "ok", PLAUSIBLE),
    # "larger than physically possible": 3.8 GB in 52.9 ms on an M1.
    Claim("ggml-org/llama.cpp#1642", 3_800_000_000, "M1", "52.9 ms", 105.3, "counting error", ELSEWHERE),
    # "418 % of peak" was the symptom of resident bytes (here those of another file of the same model);
    # over what is read, and over its own probe, it is 51 %.
    Claim(
        *("ashalliants/ninfer-3090#51", MIXTURE, "936.2 spec RTX 3090", "169.55", 369.3, "counting error"),
        *("Explained by: experts counted in full.", ("--rule", "all-bytes")),
    ),
    Claim("ashalliants/ninfer-3090#51", MIXTURE, "936.2 spec RTX 3090", "169.55", 30.0, "ok", PLAUSIBLE),
    Claim(
        *("ashalliants/ninfer-3090#51", 2_564_000_000, "854.2 achieved, uint4 read", "169.55", 50.9, "ok"),
        PLAUSIBLE,
    ),
    Claim(
        *("ashalliants/ninfer-3090#51", 15_880_000_000, "854.2 achieved, uint4 read", "37.44", 69.6, "ok"),
        PLAUSIBLE,
    ),
    # An estimate from all parameters, and the rate that was measured: all bytes cannot be read that often.
    Claim("AlexsJones/llmfit 1.1.17", MIXTURE, "400 stated", "59.8", 24.8, "ok", PLAUSIBLE),
    Claim("AlexsJones/llmfit#474", 13_000_000_000, "512 spec", "77.6", 197.0, "counting error", ELSEWHERE),
    Claim("AlexsJones/llmfit#474", 1_100_000_000, "512 spec", "77.6", 16.7, "ok", PLAUSIBLE),
]


@pytest.fixture(scope="session")
def claimed(published, tmp_path_factory):
    """The path of what a claim is about: published headers, or one matrix of the bytes that it states."""
    folder = tmp_path_factory.mktemp("claimed")

    def path_of(model):
        if isinstance(model, str):
            return published(model)
        tensors = {
            "model.embed_tokens.weight": ("BF16", [1, 1000]),
            "model.layers.0.mlp.down_proj.weight": ("BF16", [model // 2000, 1000]),
        }
        return invent(
            folder / f"{model}-bytes", tensors, {"model_type": "llama", "tie_word_embeddings": True}
        )

    return path_of


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.source} {claim.rate} {claim.bandwidth}")
def test_check_says_what_a_published_rate_is_worth(run, claimed, claim):
    figure = claim.bandwidth
    if figure in CHIPS:
        device, cores, gib = CHIPS[figure]
        spec = figures_for(device, cores, gib * GIB).figures[0]
        figure = f"{spec.gbps} {spec.kind} {spec.source}"
    words = ("check", claimed(claim.model), "--measured", claim.rate, "--bandwidth", figure)
    words = (*words, "--by", claim.source, *claim.options)
    said = run(*words, "--json")
    record = said.json
    assert record["verdict"] == claim.verdict
    assert said.code == (1 if claim.verdict == "counting error" else 0)
    assert 100 * record["fractions"][0]["value"] == pytest.approx(claim.percent, abs=0.06)
    assert claim.words in " ".join(record["verdict_reasons"])
    assert "Not measured here: the figures are as they were given." in record["verdict_reasons"]
    out = run(*words).out
    assert f": {claim.verdict.upper()}\n" in out
    assert f"{percent(record['fractions'][0]['value'])}  of {record['fractions'][0]['of']} (" in out


@pytest.mark.parametrize("rate", ["64646", "1e14"])
def test_rates_from_broken_clocks_are_refused(run, published, rate):
    # a benchmark's "tok/s" from timing headers, and one over a wrong window (mlcommons/inference#1523)
    said = run("check", published(NINE), "--measured", rate, "--bandwidth", "819 spec")
    assert said.code == 2
    assert re.search(
        "no machine decodes one stream like that|no rate that a machine", " ".join(said.err.split())
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--prompt-cache",), "A prompt cache was in use"),
        (("--hosts", "2"), "2 machines share the weights"),
        (("--batch", "8"), "Batch 8: one read of the weights serves several tokens."),
    ],
)
def test_what_the_claim_says_of_its_setting_is_taken_into_account(run, published, options, words):
    said = run("check", published(NINE), "--measured", "500", "--bandwidth", "819 spec", *options, "--json")
    assert said.code == 0
    assert said.json["verdict"] == "not applicable"
    first, *others = said.json["verdict_reasons"]
    assert words in first
    assert others == ["Not measured here: the figures are as they were given."]


@pytest.mark.parametrize("option", ["--batch", "--hosts"])
def test_fewer_than_one_of_them_is_a_usage_error(run, published, option):
    said = run("check", published(NINE), "--measured", "50", "--bandwidth", "819 spec", option, "0")
    assert (said.code, said.out) == (2, "")
    assert "count upwards from 1" in said.err
