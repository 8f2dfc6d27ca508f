"""What the images of an instance are made of, as the cache keeps it."""

from pathlib import Path

import pytest

from assay.harness.domain import ImageSpec
from assay.instances.environments.images_lock import keep_layer
from assay.viewer.layers import LONGEST, find_layers


def keep(cache: Path, name: str, parent: str, **files: str) -> None:
    keep_layer(ImageSpec(name=name, parent=parent, dockerfile="FROM base\n", files=files), cache)


def test_images_are_listed_from_the_top_with_their_files(tmp_path: Path) -> None:
    keep(tmp_path, "assay/env:1", "assay/toolchain:1", **{"requirements.txt": "a==1\n"})
    keep(tmp_path, "assay/instance:1", "assay/env:1", **{"b.sh": "x" * LONGEST + "12345"})
    first, second = find_layers("assay/instance:1", tmp_path)
    assert (first.name, second.name) == ("assay/instance:1", "assay/env:1")
    assert dict(second.files) == {"Dockerfile": "FROM base\n", "requirements.txt": "a==1\n"}
    assert dict(first.files)["b.sh"].endswith("(5 more characters)")


@pytest.mark.parametrize("image", ["", "unknown/image:1", "../../etc/passwd", "a\0b", "x" * 5000, "<script>"])
def test_image_that_is_not_known_has_no_layers(image: str, tmp_path: Path) -> None:
    assert find_layers(image, tmp_path) == ()
