"""One door: the command line. A module per command; nothing is imported before its command is called."""

from workbench.cli.main import main

__all__ = ["main"]
