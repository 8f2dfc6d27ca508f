import pytest
from pydantic import ValidationError

from assay.harness.domain import Asset
from toy import make_instance


def test_expected_tests_are_in_one_list_only() -> None:
    with pytest.raises(ValidationError, match="FAIL_TO_PASS and PASS_TO_PASS share 'b'"):
        make_instance(fail_to_pass=("a", "b"), pass_to_pass=("b", "c"))


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", ".git/hooks/x", "A/.GIT/x", "c:/x", r"a\..\x"])
def test_asset_outside_the_tree_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="is no path inside the tree"):
        Asset.model_validate({"path": path, "url": "file:///x", "sha256": "0" * 64})
