import pytest
from jinja2 import UndefinedError

from assay.harness.templates import text_environment


def test_text_keeps_marks_and_its_last_line_end_and_unknown_names_are_errors() -> None:
    template = text_environment("assay.cli.commands", "cluster").from_string(
        "{% if name %}\n<{{ name }}>\n{% endif %}\n"
    )
    assert template.render(name="a & b") == "<a & b>\n"
    with pytest.raises(UndefinedError):
        template.render()
