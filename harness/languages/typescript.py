"""TypeScript: JavaScript's runners, conventions and risks."""

from assay.harness.languages import javascript

NAME = "typescript"
SUFFIXES = frozenset({".ts", ".tsx", ".mts", ".cts"})
DOCKERFILES = "javascript"
GRAMMAR = "tree_sitter_typescript:language_typescript"
TEST_COMMAND = javascript.TEST_COMMAND
DEFAULT_REPORT = javascript.DEFAULT_REPORT
DEFAULT_LOG = javascript.DEFAULT_LOG
DEFAULT_ID = javascript.DEFAULT_ID
FINISHED = javascript.FINISHED
MANIFESTS: tuple[str, ...] = javascript.MANIFESTS
BUILD_PRODUCTS: tuple[str, ...] = javascript.BUILD_PRODUCTS

is_test_file = javascript.is_test_file
runner_config = javascript.runner_config
test_targets = javascript.test_targets
normalise = javascript.normalise
