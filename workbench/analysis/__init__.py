"""What measurements mean: rates, fractions, verdicts, fits. Pure functions over records and token times."""
