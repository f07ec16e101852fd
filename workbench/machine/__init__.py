"""The machine: its stamp and its conditions."""
