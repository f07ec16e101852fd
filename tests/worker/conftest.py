"""The tiny checkpoints, built once per session."""

import pytest

from tests.tiny import tiny_checkpoints


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return tiny_checkpoints(tmp_path_factory.mktemp("tiny"))
