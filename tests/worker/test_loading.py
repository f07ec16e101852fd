import json
import os
import subprocess
import sys

import pytest

from tests.worker.broken import CASES, broken_checkpoints

# case -> (code, a phrase of the sentence)
EXPECTED = {
    "absolute path typo": ("checkpoint_missing", "does not exist"),
    "relative path typo": ("checkpoint_missing", "does not exist"),
    "a file": ("checkpoint_missing", "is a file, not a directory"),
    "empty directory": ("config_missing", "has no config.json"),
    "no config": ("config_missing", "has no config.json"),
    "config a named pipe": ("config_missing", "has no config.json"),
    "config not JSON": ("config_not_json", "is no JSON object"),
    "config a list": ("config_not_json", "is no JSON object"),
    "config not UTF-8": ("config_not_json", "is no JSON object"),
    "config with a byte-order mark": ("config_not_json", "byte-order mark"),
    "no model_type": ("model_type_missing", "names no model_type"),
    "unknown model_type": ("model_type_unsupported", "model type quokka_9"),
    "model_type of no model": ("model_type_unsupported", "no model of mlx-lm"),
    "model_type a path": ("model_type_unsupported", "../../evil"),
    "model_type a list": ("load_failed", "unhashable"),
    "config field missing": ("config_field_missing", "hidden_size"),
    "no tokenizer": ("tokenizer_missing", "tokenizer.json is missing"),
    "no tokenizer.json": ("tokenizer_missing", "tokenizer.json is missing"),
    "empty tokenizer.json": ("tokenizer_broken", "is no tokenizer"),
    "broken tokenizer.json": ("tokenizer_broken", "not valid JSON"),
    "no safetensors": ("weights_missing", "no weight file named model*.safetensors"),
    "weights under another name": ("weights_missing", "no weight file named model*.safetensors"),
    "a shard missing": ("weights_incomplete", "lacks 10 of the tensors"),
    "wrong shape": ("weights_shape", "Tensor model.layers.0.mlp.up_proj.weight"),
    "vocabulary mismatch": ("weights_shape", "(512, 64), and config.json asks for (600, 64)"),
    "extra tensor": ("weights_extra", "no place for"),
    "truncated": ("weights_truncated", "the download is incomplete"),
    "zero bytes": ("weights_unreadable", "is empty or cut off"),
    "git-lfs pointer": ("weights_unreadable", "git-lfs pointer"),
    "broken link": ("weights_unreadable", "points to a file that is not there"),
    "named pipe": ("weights_unreadable", "is no regular file"),
    "no quant_method": ("quant_method_missing", "quant_method"),
    "tokenizer of another model": ("tokenizer_mismatch", "the model knows only 512 tokens"),
    "evil name": ("tokenizer_missing", "has no tokenizer"),
    "own code": ("custom_code", "Python code, which is not run"),
    "own tokenizer code": ("custom_code", "Python code to be run, which is not done"),
}

# One process loads them all; it fails the test if anything opens a connection.
LOADER = """
import json, socket, sys
from pathlib import Path

def refuse(*_):
    raise AssertionError("went to the network")

socket.socket.connect = socket.getaddrinfo = refuse
from workbench.errors import WorkbenchError
from workbench.worker.jobs.loading import fixed_prompt, load_checkpoint

out = {}
for case, path in json.loads(sys.argv[1]).items():
    try:
        fixed_prompt(load_checkpoint(Path(path)), 209)
        out[case] = ["loads", "", ""]
    except WorkbenchError as error:
        out[case] = [error.code, error.message, error.hint]
print("RESULT" + json.dumps(out))
"""


@pytest.fixture(scope="module")
def outcomes(tiny, tmp_path_factory):
    directory = tmp_path_factory.mktemp("broken")
    paths = {case: str(path) for case, path in broken_checkpoints(tiny["tiny-1"], directory).items()}
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", LOADER, json.dumps(paths)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environment,
        cwd=directory,
        timeout=120,
    )
    return json.loads(done.stdout.rpartition("RESULT")[2])


def test_every_broken_checkpoint_has_an_expectation():
    assert set(CASES) - {"no tokenizer_config"} <= set(EXPECTED)


@pytest.mark.parametrize("case", EXPECTED)
def test_a_load_failure_is_a_sentence_that_says_what_to_do(case, outcomes):
    code, message, hint = outcomes[case]
    assert (code, EXPECTED[case][1] in message) == (EXPECTED[case][0], True), message
    assert message.isprintable() and message.endswith((".", ")", "'")) and len(message) < 400
    assert hint.isprintable() and hint.endswith(".")


def test_a_checkpoint_name_of_control_characters_is_shown_escaped(outcomes):
    assert r"evil\x1b[31m\u202e" in outcomes["evil name"][1]


def test_a_checkpoint_without_a_tokenizer_config_loads(outcomes):
    assert outcomes["no tokenizer_config"][0] == "loads"
