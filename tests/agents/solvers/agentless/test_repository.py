from assay.agents.solvers.agentless.repository import bound_lines, path_listing

PATHS = ["app/a.py", "app/views/b.py", "docs/conf.py", "setup.py", "tools/x.go"]


def test_path_listing_indents_files_below_folders() -> None:
    assert path_listing(PATHS, 1000) == ("app/\n  a.py\n  views/\n    b.py\ndocs/\n  conf.py\nsetup.py\ntools/\n  x.go")


def test_path_listing_repeats_a_folder_name_in_another_folder() -> None:
    assert path_listing(["a/x/1.c", "b/x/2.c", "b/3.c"], 1000) == "a/\n  x/\n    1.c\nb/\n  3.c\n  x/\n    2.c"


def test_bounded_counts_the_lines_left_out() -> None:
    """Each line takes its letters and one for its end: 2 + 2 of five."""
    assert bound_lines(["a", "b", "c", "d"], 5) == "a\nb\n(2 more lines are not shown)"
