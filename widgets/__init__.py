"""Textual widgets that know nothing of this program: they take plain values and post messages."""
