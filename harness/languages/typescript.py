"""TypeScript: JavaScript's runners, conventions and risks."""

from dataclasses import replace

from assay.harness.languages import javascript

NAME = "typescript"
ALIASES = frozenset({"ts"})
SUFFIXES = frozenset({".ts", ".tsx", ".mts", ".cts"})
DOCKERFILES = "javascript"
GRAMMAR = "tree_sitter_typescript:language_typescript"
SYNTAX = replace(
    javascript.SYNTAX,
    functions=javascript.SYNTAX.functions | {"function_signature", "method_signature", "abstract_method_signature"},
    classes=javascript.SYNTAX.classes | {"abstract_class_declaration", "interface_declaration", "enum_declaration"},
    givers=javascript.SYNTAX.givers | {"public_field_definition"},
    scopes=frozenset({"internal_module", "module"}),
    grammars=((".tsx", "tree_sitter_typescript:language_tsx"),),
    blocks=javascript.SYNTAX.blocks | {"interface_body", "enum_body", "object_type"},
    sequences=javascript.SYNTAX.sequences | {"module"},
    ended=javascript.SYNTAX.ended | {"public_field_definition", "type_alias_declaration"},
    mentions="""(call_expression function: (_) @calls) (new_expression constructor: (_) @calls)
        (extends_clause value: (_) @inherits) (implements_clause (_) @inherits)
        (extends_type_clause (_) @inherits)""",
)
LINES = javascript.LINES
TEST_SIGN = javascript.TEST_SIGN
TEST_NAME = javascript.TEST_NAME
SURE_NAME = javascript.SURE_NAME
LOOKS_AROUND = javascript.LOOKS_AROUND
INTERPRETER = ""
TEST_COMMAND = javascript.TEST_COMMAND
DEFAULT_REPORT = javascript.DEFAULT_REPORT
DEFAULT_LOG = javascript.DEFAULT_LOG
DEFAULT_ID = javascript.DEFAULT_ID
DEFAULT_RUNNER = javascript.DEFAULT_RUNNER
FINISHED = javascript.FINISHED
PROJECT_FILES: tuple[str, ...] = ("tsconfig.json",)
VERSION_KEYS: tuple[str, ...] = javascript.VERSION_KEYS
LEAST_VERSION = javascript.LEAST_VERSION
MANIFESTS: tuple[str, ...] = javascript.MANIFESTS
MISSING_PACKAGE = javascript.MISSING_PACKAGE
BUILD_PRODUCTS: tuple[str, ...] = javascript.BUILD_PRODUCTS
STEERING_NAMES: frozenset[str] = javascript.STEERING_NAMES
SOURCE_NAMES = javascript.SOURCE_NAMES

is_test_file = javascript.is_test_file
runner_config = javascript.runner_config
steering_part = javascript.steering_part
test_targets = javascript.test_targets
places = javascript.places
stands_in = javascript.stands_in
mistake = javascript.mistake
normalise = javascript.normalise
