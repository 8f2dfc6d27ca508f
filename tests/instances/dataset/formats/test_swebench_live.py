from pathlib import Path

from assay.instances.dataset.formats import FORMATS, write
from samples import read


def test_a_parser_that_is_a_program_is_kept_and_never_run(tmp_path: Path) -> None:
    program = f"open({str(tmp_path / 'ran')!r}, 'w')\nparser = None\n"
    instance = read("swebench-live", log_parser=program)
    assert write(FORMATS["swebench-live"], instance)["log_parser"] == program
    assert instance.log_format == ""
    assert list(tmp_path.iterdir()) == []
    assert read("swebench-live", 1).log_format == "pytest_text"
