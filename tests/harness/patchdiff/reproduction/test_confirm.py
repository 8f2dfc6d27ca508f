from assay.harness.patchdiff.reproduction.confirm import Looks, decoded


def test_check_is_about_the_first_look_that_differs() -> None:
    same, gold, other = (("value", "str", text) for text in ("same", "gold", "other"))
    looks = Looks((same, gold, same), (same, other, gold))
    assert looks.first == 1
    assert looks.check.expected == (same, gold)
    assert looks.check.candidate == other
    assert Looks((same,), (same, other)).first == -1


def test_source_is_read_by_its_own_encoding() -> None:
    assert decoded("# coding: latin-1\nNAME = 'é'\n".encode("latin-1")) == "# coding: latin-1\nNAME = 'é'\n"
    assert decoded(b"\xff\xfe") == decoded(b"# coding: none\n") == ""
