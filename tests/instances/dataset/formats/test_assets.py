import pytest

from assay.harness.errors import DataError
from samples import read


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ".git/config", "a//b", "c:/x", "", "a\\..\\b"])
def test_an_asset_outside_the_tree_is_refused(path: str) -> None:
    with pytest.raises(DataError) as caught:
        read("swebench", 2, image_assets={"test_patch": [{"path": path, "url": "https://images.example/a.png"}]})
    assert caught.value.field == "image_assets.test_patch.path"
