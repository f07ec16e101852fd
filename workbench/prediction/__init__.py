"""Bandwidth figures, ceilings, and a person's number."""
