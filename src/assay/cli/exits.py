"""Exit codes beside 0: what went wrong, for scripts."""

import signal

INTERNAL, USAGE, INFRASTRUCTURE, INVALID, BELOW_THRESHOLD, INTERRUPTED = 1, 2, 3, 4, 5, 130


def ignore_signals() -> None:
    """Let nothing change the exit status any more: an interpreter that shuts down would die of a second signal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


PATCHDIFF = "suites,amplify,replay"
"""What ``--patchdiff`` without a value stands for; the command line's own parser knows no optional values."""
