"""C++: C's build tools, conventions and risks."""

from dataclasses import replace

from assay.harness.languages import c

NAME = "cpp"
ALIASES = frozenset({"c++"})
SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp", ".inl"})
DOCKERFILES = "c"
GRAMMAR = "tree_sitter_cpp:language"
SYNTAX = replace(
    c.SYNTAX,
    classes=c.SYNTAX.classes | {"class_specifier"},
    scopes=frozenset({"namespace_definition"}),
    wrappers=frozenset({"template_declaration"}),
    mentions=f"""{c.SYNTAX.mentions} (new_expression type: (_) @calls)
        (base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @inherits)""",
)
LINES = c.LINES
TEST_SIGN = c.TEST_SIGN
TEST_NAME = c.TEST_NAME
SURE_NAME = c.SURE_NAME
LOOKS_AROUND = c.LOOKS_AROUND
INTERPRETER = ""
TEST_COMMAND = c.TEST_COMMAND
DEFAULT_REPORT = c.DEFAULT_REPORT
DEFAULT_LOG = c.DEFAULT_LOG
DEFAULT_ID = c.DEFAULT_ID
DEFAULT_RUNNER = c.DEFAULT_RUNNER
FINISHED = c.FINISHED
PROJECT_FILES: tuple[str, ...] = c.PROJECT_FILES
VERSION_KEYS: tuple[str, ...] = c.VERSION_KEYS
LEAST_VERSION = c.LEAST_VERSION
MANIFESTS: tuple[str, ...] = c.MANIFESTS
MISSING_PACKAGE = c.MISSING_PACKAGE
BUILD_PRODUCTS: tuple[str, ...] = c.BUILD_PRODUCTS
STEERING_NAMES: frozenset[str] = c.STEERING_NAMES
SOURCE_NAMES = c.SOURCE_NAMES

is_test_file = c.is_test_file
runner_config = c.runner_config
steering_part = c.steering_part
test_targets = c.test_targets
places = c.places
stands_in = c.stands_in
mistake = c.mistake
normalise = c.normalise
