import pytest

from assay.instances.collect.licenses import detect_license, is_license_file
from histories import MIT

BSD = "Redistribution and use in source and binary\nforms, with or without modification"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (MIT, "MIT"),
        (BSD, "BSD-2-Clause"),
        (f"{BSD}\n * Neither the name may be used to\n * endorse or promote products", "BSD-3-Clause"),
        ("Apache License\n   Version 2.0, January 2004", "Apache-2.0"),
        ("GNU GENERAL PUBLIC LICENSE\nVersion 3", "GPL-3.0"),
        ("GNU LESSER GENERAL PUBLIC LICENSE\nVersion 3 ... the GNU General Public License", "LGPL-3.0"),
        ("All rights reserved.", ""),
    ],
)
def test_a_text_has_its_name(text: str, name: str) -> None:
    assert detect_license(text) == name


def test_license_files_are_in_the_root_folder() -> None:
    assert [path for path in ("LICENSE", "licence.md", "COPYING", "vendor/LICENSE", "lib.py") if is_license_file(path)]
    assert not is_license_file("vendor/LICENSE")
