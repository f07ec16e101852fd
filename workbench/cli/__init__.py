"""One door: the command line. A module per command; nothing here is imported before it is called."""
