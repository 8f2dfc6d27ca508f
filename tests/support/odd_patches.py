"""Patches at random, most of them odd."""

from hypothesis import strategies as st

HUNK = ("@@ -1 +1 @@", "-a", "+b")
NEW = ("@@ -0,0 +1 @@", "+b")
GONE = ("@@ -1 +0,0 @@", "-a")
NAMES = st.sampled_from(
    [
        *("x", "a", "b/x.py", "conftest.py", "a b", "a b c", "x\ty", "x\ry", "é", "dev/null", "x//y", "", "x/"),
        *("x 2020-01-01", "x 2020-01-01 10:00:00", "x\t2020-01-01 10:00:00.123 +0000", "x 12:00:00 +01:00"),
        *("x 1970-01-01 00:00:00 +0000", "x\t1970-01-01 00:00:00.0 +0000", "x\t1969-12-31 23:00:00 -0100"),
    ]
)
FOLDERS = st.sampled_from(["a/", "b/", "", "/", "a//"])
ENDS = st.sampled_from(["", "", "", "", " ", "\t", "\r", " junk", '"'])
MODES = st.sampled_from(
    ["100644", "0100755", "100644 ", "120000", "160000", "644", "100644x", "", "\t100755", "+100644"]
)


def quote(name: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\r": "\\r", "x": "\\170"}
    return '"' + "".join(escapes.get(char, char) for char in name) + '"'


@st.composite
def name(draw: st.DrawFn, folders: st.SearchStrategy[str] = FOLDERS) -> str:
    text = draw(folders) + draw(NAMES)
    return (quote(text) if draw(st.integers(0, 3)) == 0 else text) + draw(ENDS)


@st.composite
def git_lines(draw: st.DrawFn) -> list[str]:
    base = draw(NAMES)
    as_is = (lambda text: text) if draw(st.booleans()) else quote
    other = as_is if draw(st.integers(0, 3)) else quote
    words = [
        "new file mode",
        "deleted file mode",
        "old mode",
        "new mode",
        "index 1..2",
        "rename to",
        "copy from",
        "---",
    ]
    words += ["rename old", "rename new", "copy to", "rename from", "+++", "similarity index", "index", "junk"]
    lines = [f"diff --git {as_is(f'a/{base}')}{draw(st.sampled_from([' ', '  ', chr(9)]))}{other(f'b/{base}')}"]
    for word in draw(st.lists(st.sampled_from(words), max_size=4)):
        rest = draw(MODES) if "mode" in word or word.startswith("index") else draw(name())
        lines.append(f"{word} {rest}")
    return lines


@st.composite
def plain_lines(draw: st.DrawFn) -> list[str]:
    old, new = (draw(st.one_of(st.just("/dev/null"), name())) for _ in range(2))
    return [f"--- {old}", f"+++ {new}"]


HUNKS = st.sampled_from(
    [[], [*HUNK], [*NEW], ["@@ -1 +0,0 @@", "-a"], [*HUNK, "\\ No newline at end of file"], ["", *HUNK]]
)


@st.composite
def patches(draw: st.DrawFn) -> bytes:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(st.one_of(git_lines(), plain_lines()))
        lines += draw(HUNKS)
    return "".join(f"{line}\n" for line in lines).encode()
