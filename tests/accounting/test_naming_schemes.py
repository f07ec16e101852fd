"""Every naming that people save checkpoints with is read as its model reads it.

naming_schemes.txt has the ways of naming, formats and quantizations; published_namings.txt published
checkpoints in their own names.
"""

from pathlib import Path

import pytest

from tests.accounting.shares import misread, read_schemes

FILES = ("naming_schemes.txt", "published_namings.txt")
SCHEMES = {
    title: scheme for file in FILES for title, scheme in read_schemes(Path(__file__).with_name(file)).items()
}
FLAT = [
    name
    for name, (fields, _) in SCHEMES.items()
    if not {"text_config", "llm_config", "language_config", "thinker_config"}
    & fields.get("config", {"text_config": ""}).keys()
]


@pytest.mark.parametrize("naming", SCHEMES)
def test_a_naming_is_read_as_its_model_reads_it(naming):
    fields, tensors = SCHEMES[naming]
    assert misread(tensors, **fields) == {}


@pytest.mark.parametrize("naming", SCHEMES)
def test_the_order_of_the_tensors_does_not_matter(naming):
    fields, tensors = SCHEMES[naming]
    assert misread(dict(reversed(tensors.items())), **fields) == {}


@pytest.mark.parametrize("naming", FLAT)
def test_a_nested_configuration_says_the_same(naming):
    fields, tensors = SCHEMES[naming]
    outer = {"architectures": ["Any"], "model_type": "any", "text_config": fields["config"]}
    assert misread(tensors, outer) == {}
