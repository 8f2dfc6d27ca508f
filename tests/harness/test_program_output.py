import pytest

from assay.harness.program_output import find_cause


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        (
            "error: No solution found\n  cause: Because there is no version of a==9 and you require a==9, we can "
            "conclude that it fails.\n\nhint: `a` was found, but no 9\n",
            "there is no version of a==9 and you require a==9",
        ),
        (
            "  \u00d7 No solution found:\n  ╰─▶ Because only a<2 is available and you require a>3, we can\n      "
            "conclude that.\n\n      hint: error: not this\n      Because of nothing\n",
            "only a<2 is available and you require a>3",
        ),
        (
            "error: The build backend returned an error\n  cause: a call failed\n\n  [stderr]\n  Traceback:\n"
            "  ModuleNotFoundError: No module named 'numpy'\n\n  hint: add numpy to\n    the build. error: x\n",
            "ModuleNotFoundError: No module named 'numpy'",
        ),
        ("#9 1.2 npm ERR! code E1\n#9 1.3 npm ERR! notarget no a@9.\nERROR: failed to solve\n", "notarget no a@9."),
        ("help: do this\n\nerror: first\nerror: could not compile due to the previous error\n", "first"),
        ("\x1b[31mE: Unable to locate package a\x1b[0m\n", "Unable to locate package a"),
        ("\n\nhint: only this\n", ""),
    ],
)
def test_the_cause_is_found_in_an_output_and_no_hint(output: str, cause: str) -> None:
    assert find_cause(output) == cause
