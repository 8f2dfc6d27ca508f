"""C++: C's build tools, conventions and risks."""

from assay.harness.languages import c

NAME = "cpp"
SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp", ".inl"})
DOCKERFILES = "c"
GRAMMAR = "tree_sitter_cpp:language"
TEST_COMMAND = c.TEST_COMMAND
DEFAULT_REPORT = c.DEFAULT_REPORT
DEFAULT_LOG = c.DEFAULT_LOG
DEFAULT_ID = c.DEFAULT_ID
FINISHED = c.FINISHED
MANIFESTS: tuple[str, ...] = c.MANIFESTS
BUILD_PRODUCTS: tuple[str, ...] = c.BUILD_PRODUCTS

is_test_file = c.is_test_file
runner_config = c.runner_config
test_targets = c.test_targets
normalise = c.normalise
