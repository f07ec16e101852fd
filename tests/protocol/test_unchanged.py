"""A checkpoint that becomes another one between its count and its load is never measured as the first."""

import json
import shutil

import pytest

from tests.checkpoints import invent
from tests.protocol.stage import plan, story
from workbench.checkpoint.reading import open_checkpoint
from workbench.errors import CheckpointError
from workbench.protocol.unchanged import require_unchanged
from workbench.worker import messages as m

TENSORS = {"model.embed_tokens.weight": ("F32", [64, 8]), "model.norm.weight": ("F32", [8])}
CONFIG = {"model_type": "llama", "hidden_size": 8, "rope_theta": float("nan")}


@pytest.fixture
def counted(tmp_path):
    return open_checkpoint(invent(tmp_path / "one", TENSORS, CONFIG))


def test_a_checkpoint_that_stays_is_no_news(counted):
    require_unchanged(counted)


def test_a_file_of_another_size_is_named_with_both_sizes(counted):
    [file] = counted.files
    with (counted.path / file.name).open("ab") as grown:
        grown.write(b"\0" * 5)
    words = rf"{file.name} had {file.bytes:,} bytes and has {file.bytes + 5:,}"
    with pytest.raises(CheckpointError, match=words) as caught:
        require_unchanged(counted)
    assert caught.value.code == "checkpoint_changed"


def test_another_config_is_said(counted):
    (counted.path / "config.json").write_text(json.dumps(CONFIG | {"hidden_size": 16}))
    with pytest.raises(CheckpointError, match=r"config\.json says something else"):
        require_unchanged(counted)


def test_what_is_gone_is_the_loaders_business(counted):
    shutil.rmtree(counted.path)
    require_unchanged(counted)


async def test_a_checkpoint_that_changed_before_its_load_is_never_asked_for(stage, counted):
    async with stage.make(plan(checkpoint=counted)) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        (counted.path / "config.json").write_text("{}")
        record = await measurement.measure()
    assert record.status == "failed"
    assert "has changed on disk since it was counted" in record.reason
    assert "send" not in [event[0] for event in stage.events]


async def test_a_checkpoint_that_changes_while_it_loads_is_not_measured(stage, counted):
    def exchanged():
        for report in story():
            if isinstance(report, m.Loaded):
                (counted.path / "config.json").write_text("{}")
            yield report

    async with stage.make(plan(checkpoint=counted), script=exchanged()) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        record = await measurement.measure()
    assert record.status == "failed"
    assert "has changed on disk" in record.reason
    assert record.generation_tps is None
