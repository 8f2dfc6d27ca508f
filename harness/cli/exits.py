"""Exit codes beside 0: what went wrong, for scripts."""

INTERNAL, USAGE, INFRASTRUCTURE, INVALID, BELOW_THRESHOLD, INTERRUPTED = 1, 2, 3, 4, 5, 130
