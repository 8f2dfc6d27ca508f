import json

from assay.harness.domain import (
    PublishedImage,
    Rule,
)
from assay.instances.dataset.formats import swebench, write
from samples import DATASET, PLAIN, read

PUBLISHED = PLAIN.model_copy(
    update={
        "environment": PublishedImage(image="x/y:z", eval_script="run"),
        "language": "java",
        "log_format": "maven_text",
        "test_id": "method",
        "version": "1.2",
        "hints": "see there",
        "rule": Rule.SWE_BENCH_FAIL_ONLY,
    }
)


def test_a_published_environment_and_a_parser_survive_swebench_rows() -> None:
    row = json.loads(json.dumps(write(swebench, PUBLISHED)))
    assert (row["log_parser"], row["image"]) == ("parse_log_maven", "x/y:z")
    assert swebench.to_instance(row, DATASET) == PUBLISHED


def test_a_classic_row_without_parser_gets_that_of_its_repository() -> None:
    assert read("swebench", log_parser=None, repo="django/django").log_format == "unittest_text"
