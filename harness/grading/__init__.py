"""Pure functions from saved evidence to verdicts.

The exit status is the engine's, the deadline the host's, the memory kill the kernel's. A log shows which tests
passed only where a plan has no report file; the verdict then has the flag ``read_from_log``. Exit status and
results must agree: failing tests behind a passing status are ``tampered``. Before anything is resolved, the
tripwires must have behaved, and the status must be one with which the runner ends its work.
"""
