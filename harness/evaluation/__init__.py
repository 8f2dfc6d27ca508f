"""One patch, one container -> evidence.

- **A root-owned supervisor runs the tests as another user** (``supervising.SUPERVISOR``). When the test command has
  ended, it kills every process of that user and ends with the command's status. A command's report is a pipe that
  root alone reads: text in it can be added to, and not changed. A test command begins with ``exec`` where it can,
  so no shell of the tests' user is above the runner. Reports in folders (Maven, Gradle, ctest) belong to the
  tests' user until the kill; the output is then the second witness.
- **Tests do not change while they run** (``guarding``): root compares them when everything is dead.
- **Two witnesses.** The engine's stream of the output only grows. An expected test that passes in the report is
  never resolved if it fails in the output, or if a runner that prints every test has not printed it.
- **No fallback to the log.** A plan with a report file and no report has no result. Otherwise a patch could choose
  the channel that it can write by breaking the other.
- **A patch is checked against the commit** before it is applied to the tree, so it cannot change files that a
  pre-build left in the tree, hidden from git.
- **The tree lists the changes of a patch.** The tests' user applies the patch before any code of it has run, and the
  tree lists the changes. From that list the host decides what goes back to the base commit: test files, files that
  steer the runner, build products. Then the test patch is applied, and the tests run. Results are fetched once
  everything in the container is dead.
"""
