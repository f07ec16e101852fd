"""The ledger that is shipped: the source documents' run 1, its correction, and the row that replaced it.

Rates and bytes are the published ones; the token times were synthesized evenly and say so.
"""

from pathlib import Path

OFFICE_RUN_1 = Path(__file__).parent / "examples" / "office-run-1.jsonl"
"""Three lines: run 1 as it was recorded, the record that discards it, the corrected run."""
