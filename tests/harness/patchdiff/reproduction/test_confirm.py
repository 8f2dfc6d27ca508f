import json

from assay.harness.patchdiff.reproduction.confirm import decode, find_check


def log(*looks: tuple[str, str, str]) -> bytes:
    return "\n".join(map(json.dumps, looks)).encode()


def test_check_is_about_the_first_look_that_differs() -> None:
    same, gold, other = (("value", "str", text) for text in ("same", "gold", "other"))
    check = find_check(log(same, gold, same), log(same, other, gold))
    assert check
    assert check.expected == (same, gold)
    assert check.candidate == other
    assert find_check(log(same), log(same, other)) is None


def test_source_is_read_by_its_own_encoding() -> None:
    assert decode("# coding: latin-1\nNAME = 'é'\n".encode("latin-1")) == "# coding: latin-1\nNAME = 'é'\n"
    assert decode(b"\xff\xfe") == decode(b"# coding: none\n") == ""
