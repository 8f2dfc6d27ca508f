"""Which nodes of the ten grammars are statements, literals and marks, for ``canonical``."""

import re

DEEPER = frozenset(
    {
        *("block", "class_body", "interface_body", "enum_body", "constructor_body", "switch_block", "statement_block"),
        *("switch_body", "object_type", "declaration_list", "field_declaration_list", "match_block"),
        *("enum_variant_list", "compound_statement", "enumerator_list", "body_statement", "then", "block_body"),
        *("begin", "ensure", "else"),
        *("import_spec_list", "enum_declaration_list", "switch_block_statement_group", "annotation_type_body"),
    }
)
"""Node types, in all languages, whose members are statements, one level further in."""
LEVEL = frozenset(
    {
        *("module", "program", "source_file", "translation_unit", "decorated_definition", "statement_list"),
        "enum_body_declarations",
        *("preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "preproc_elifdef"),
    }
)
"""The same, on the level of what is around."""
LINE_BOUND = ("preproc_def", "preproc_function_def", "preproc_call", "preproc_include", "jsx_", "heredoc_beginning")
"""Beginnings of types in which white space counts: kept as they are, but for its amount."""
VERBATIM = ("string", "template_string", "raw_", "char", "regex", "heredoc_body", "encapsed_string", "nowdoc", "text")
"""Beginnings of types of literals, which are kept to the letter."""
VERBATIM_ENDS = ("string_literal", "_string", "character_literal", "heredoc", "shell_command_expression")
NO_LITERAL = frozenset(
    {"concatenated_string", "chained_string", "string_array", "character_class", "text_interpolation"}
)
COMMENT = re.compile(r'(?P<literal>"(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""In a line of a preprocessor, whose grammar reads comments as part of it; a literal is none."""
EITHER_QUOTE = frozenset({"python", "javascript", "typescript"})
"""Languages in which single and double quotes mean the same."""
FREE_SEMICOLON = frozenset({"python", "javascript", "typescript", "go"})
"""Languages in which a semicolon at the end of a statement means nothing."""
SEMICOLON_THOUGHT = frozenset({"javascript", "typescript"})
ENDED = frozenset(
    {
        *("expression_statement", "lexical_declaration", "variable_declaration", "return_statement", "throw_statement"),
        *("field_definition", "public_field_definition", "import_statement", "type_alias_declaration"),
    }
)
"""Node types of statements that are given a semicolon where JavaScript would think of one."""
PARTED = frozenset(
    {"for_statement", "for_clause", "if_statement", "expression_switch_statement", "type_switch_statement"}
)
"""Node types in which a semicolon parts what stands in a head."""
SPACED = frozenset({"ruby"})
"""Languages in which a space between tokens can change what they mean."""
CLOSING = frozenset({")", "]", "}", "end"})
