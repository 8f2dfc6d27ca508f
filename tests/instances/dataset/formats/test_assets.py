import pytest

from assay.harness.errors import DataError
from samples import read


def test_binary_files_with_a_path_are_assets() -> None:
    instance = read("swebench", 2)
    assert [(asset.path, asset.url) for asset in instance.assets] == [
        ("test/fixtures/thick.png", "https://images.example/thick.png")
    ]
    urls = {"problem_statement": [], "patch": [], "test_patch": ["https://images.example/a.png"]}
    assert read("swebench", 2, image_assets=urls).assets == ()


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ".git/config", "a//b", "c:/x", "", "a\\..\\b"])
def test_an_asset_outside_the_tree_is_refused(path: str) -> None:
    with pytest.raises(DataError) as caught:
        read("swebench", 2, image_assets={"test_patch": [{"path": path, "url": "https://images.example/a.png"}]})
    assert caught.value.field == "image_assets.test_patch.path"
