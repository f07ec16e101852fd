"""The program's own errors: what is wrong, where, and what to do.

They are raised at the door where the bad thing came in and turned into words in two places only: the
command line and the screens' notifications. Standard library only: the lowest rooms raise them too.
"""

from workbench.exits import ExitCode


class WorkbenchError(Exception):
    """A failure that a user can act on.

    `code` is a stable word for scripts, `message` says what is wrong and where, `hint` says what to do.
    """

    code = "error"
    exit_code = ExitCode.USAGE

    def __init__(self, message: str, hint: str = "", *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code

    @property
    def words(self) -> str:
        """What is wrong and what to do, as running text."""
        return f"{self.message} {self.hint}".rstrip()


class UsageError(WorkbenchError):
    """The command's words or a setting make no sense."""

    code = "usage"


class PredictionMissingError(UsageError):
    """A run was asked for without a prediction."""

    code = "no_prediction"


class CheckpointError(WorkbenchError):
    """A checkpoint is missing, incomplete, malformed, or not countable."""

    code = "checkpoint_unreadable"
    exit_code = ExitCode.CHECKPOINT


class IncompleteCheckpointError(CheckpointError):
    """A part of a checkpoint is not there: a download that did not finish, a shard that is missing."""

    code = "checkpoint_incomplete"


class WorkerError(WorkbenchError):
    """The worker process could not start, failed, or died."""

    code = "worker_failed"
    exit_code = ExitCode.WORKER


class PowerError(WorkbenchError):
    """Power was required and no source could give it."""

    code = "power_absent"
    exit_code = ExitCode.POWER


class LedgerError(WorkbenchError):
    """The ledger could not be read or written."""

    code = "ledger_unwritable"
