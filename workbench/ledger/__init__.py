"""The append-only file of records: plain storage at the bottom of the house."""
