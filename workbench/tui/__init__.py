"""The screens: they paint what the rooms say and drive the same protocol as the command line."""
