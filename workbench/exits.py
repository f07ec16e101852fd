"""The program's exit codes: one meaning each, for scripts that call it."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process says to its caller; a signal n exits with 128 + n."""

    OK = 0
    FLAGGED = 1
    USAGE = 2
    CHECKPOINT = 3
    WORKER = 4
    POWER = 5
