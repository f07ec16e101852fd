"""A small real tokenizer for the synthetic checkpoints: byte-level BPE, learned here from a fixed text."""

import json
from itertools import product
from pathlib import Path

from workbench.worker.jobs.prose import PROSE

BEGIN, END = "<|begin|>", "<|end|>"

# The prose alone ends at 1,150 tokens; rare syllables fill the rest: every id of a model gets a text.
_SYLLABLES = " ".join(map("".join, product("bcdfghklmnprstvwz", "aeiou", "bdfgklmnprstvz")))


def save_tokenizer(folder: Path, vocabulary: int) -> None:
    """Write tokenizer.json and tokenizer_config.json for a model of `vocabulary` tokens into `folder`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=1,
        show_progress=False,
        special_tokens=[BEGIN, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    tokenizer.train_from_iterator([PROSE] * 50 + [_SYLLABLES], trainer)
    (folder / "tokenizer.json").write_text(tokenizer.to_str(pretty=False) + "\n", "utf-8")
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BEGIN,
        "eos_token": END,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 8192,
    }
    (folder / "tokenizer_config.json").write_text(
        json.dumps(settings, indent=2, sort_keys=True) + "\n", "utf-8"
    )
