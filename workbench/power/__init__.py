"""Power and energy: which sources there are, what each covers, and joules per token over a window."""
