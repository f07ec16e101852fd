"""What the warm-up threw away is in the record, on the card, and in the words about a run that sped up."""

import pytest
from msgspec.structs import replace as revised

from tests.protocol.stage import plan, repeat, story
from tests.protocol.test_steps import run_of
from workbench.ledger.card import card
from workbench.protocol.plan import RunSettings
from workbench.worker import messages as m


def warmed(*passes):
    """The usual run with these warm-up passes."""
    said = story(repeat(0, step_ms=20), repeat(1, step_ms=10))
    at = next(i for i, one in enumerate(said) if isinstance(one, m.Warmed))
    return [*said[:at], *passes, *said[at + 1 :]]


SETTLED = (m.Warmed(1, 8, 3.0), m.Warmed(2, 50, 90.0), m.Warmed(3, 40, 91.0, steady=True))


@pytest.mark.parametrize(
    ("passes", "fields", "words"),
    [
        ((m.Warmed(1, 8, 90.0),), (1, 8, None), "8 tokens thrown away in 1 pass"),
        (SETTLED, (3, 98, True), "98 tokens thrown away in 3 passes, the last two at one rate"),
        (SETTLED[:2], (2, 58, False), "58 tokens thrown away in 2 passes, never at one rate"),
    ],
)
async def test_the_record_and_the_card_say_what_was_thrown_away(stage, passes, fields, words):
    record = await run_of(stage.make(script=warmed(*passes)))
    assert record.warmup_tokens == 2  # the setting
    assert (record.warmup_passes, record.warmup_tokens_actual, record.warmup_steady) == fields
    assert dict(card(record))["warm-up"] == words


async def test_no_warm_up_is_recorded_as_none_and_its_kernels_as_cold(stage):
    settings = RunSettings(prompt_tokens=5, max_tokens=11, warmup_tokens=0, repeats=2)
    record = await run_of(stage.make(plan(settings=settings), script=warmed()))
    assert (record.warmup_passes, record.warmup_tokens_actual, record.warmup_steady) == (0, 0, None)
    assert record.kernel_cache == "cold"


async def test_a_run_that_failed_before_its_warm_up_ended_does_not_say_what_it_threw_away(stage):
    script = [*story()[:2], m.Failed(code="out_of_memory", message="No memory.")]
    record = await run_of(stage.make(script=script))
    assert (record.warmup_passes, record.warmup_tokens_actual) == (None, None)
    assert "warm-up" not in dict(card(record))
    assert record.conditions_reasons["kernel_cache"] == "the run ended before its warm-up"


async def test_a_faster_end_is_laid_to_the_machine_only_after_a_warm_up_that_settled(stage):
    settled = await run_of(stage.make(script=warmed(*SETTLED)))
    assert settled.tps_last_quarter > 1.9 * settled.tps_first_quarter
    assert "its warm-up had settled" in " ".join(settled.verdict_reasons)
    short = await run_of(stage.make(script=warmed(SETTLED[0])))
    assert "still warming up, or the machine itself" in " ".join(short.verdict_reasons)


def test_an_older_record_of_the_setting_alone_has_no_line_on_its_card():
    from tests.analysis.office import office_record

    assert "warm-up" not in dict(card(revised(office_record("Qwen3.5-9B-4bit"), warmup_tokens=8)))
