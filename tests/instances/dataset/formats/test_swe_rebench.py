from samples import read, rows

from assay.instances.dataset.formats import FORMATS, write


def test_times_are_milliseconds() -> None:
    row = rows("swe-rebench")[0]
    assert write(FORMATS["swe-rebench"], read("swe-rebench"))["created_at"] == row["created_at"]
