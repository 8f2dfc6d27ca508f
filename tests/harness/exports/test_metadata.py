import datetime
from pathlib import Path

import pytest

from assay.harness.errors import UserError
from assay.harness.exports.metadata import SubmissionMetadata, make_template, read_metadata, require


def test_fields_are_read(tmp_path: Path) -> None:
    file = tmp_path / "me.yaml"
    file.write_text("name: Me + M-1\ndate: 2026-11-23\nmodel: [M-1]\nos_model: false\nsite: https://example.org\n")
    assert read_metadata(file) == SubmissionMetadata(
        name="Me + M-1", date=datetime.date(2026, 11, 23), model=("M-1",), os_model=False, site="https://example.org"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "me.yaml: is not a mapping of fields to values; write a line for each"),
        ("- a", "me.yaml: is not a mapping of fields to values; write a line for each"),
        ("name: [", "me.yaml:1: is not YAML"),
        ("nmae: Me", "me.yaml: field nmae: is unknown; correct its name or leave it out"),
        ("site: example.org", "me.yaml: field site: 'example.org' is no address; write https://..."),
        ("attempts: 3", "me.yaml: field attempts"),
        ("split: a/b", "me.yaml: field split: 'a/b' is not allowed here"),
        ("os_model: maybe", "me.yaml: field os_model"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "me.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        read_metadata(file)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_template_names_every_field_and_what_it_lacks_is_what_the_format_needs(tmp_path: Path) -> None:
    required = ("name", "model", "os_system")
    file = tmp_path / "me.yaml"
    file.write_text(text := make_template(required, "swebench"))
    assert all(f"{name}:" in text for name in SubmissionMetadata.model_fields)
    with pytest.raises(UserError, match="needs name, model, os_system"):
        require(read_metadata(file), required, "swebench", file)
