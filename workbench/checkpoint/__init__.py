"""What is on disk, from headers and config.json alone. Standard library only; no weight is ever read."""
