"""The exit statuses of every command: scripts decide on them, so each has one meaning."""

from enum import IntEnum


class Status(IntEnum):
    """What a command's exit status says (docs/format.md, Exit status)."""

    PASSED = 0
    FAILED = 1
    INVALID = 2
    INCONCLUSIVE = 3
    INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
    BROKEN_PIPE = 141  # 128 + SIGPIPE: who read our output went away
    TERMINATED = 143  # 128 + SIGTERM


MEANINGS: dict[Status, str] = {
    Status.PASSED: "done; every run that was checked passes",
    Status.FAILED: "a run failed",
    Status.INVALID: "invalid input, a wrong command line, or a runner error",
    Status.INCONCLUSIVE: "nothing failed, and something is inconclusive",
}
