"""All malformed and tricky checkpoints by name, as data/checkpoints/malformed.json describes them."""

from tests.checkpoint import malformed, malformed_contents, malformed_gguf, malformed_sets

CASES = malformed.CASES
"""Name -> builder: gets an empty directory, returns the path to open."""

MODULES = (malformed, malformed_sets, malformed_contents, malformed_gguf)
