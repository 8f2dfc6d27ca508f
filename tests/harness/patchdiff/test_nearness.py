from assay.harness.patchdiff.nearness import (
    FEWEST_QUOTED,
    MOST_QUOTED,
    MOST_WORDS,
    ChangeSummary,
    find_quoted,
    find_words,
    select_named,
    sort_nearest,
)

COOKIES = ChangeSummary(["src/web/http/cookies.py"])


def test_near_test_files_come_first_and_other_suites_last() -> None:
    tests = [
        "examples/http/test_cookies.py",
        "tests/test_app.py",
        "tests/http/test_misc.py",
        "tests/http/test_cookies.py",
        "tests/test_own.py",
    ]
    order = sort_nearest(tests, ["tests/test_own.py"], COOKIES)
    assert order[:3] == ["tests/test_own.py", "tests/http/test_cookies.py", "tests/http/test_misc.py"]
    assert order[3:] == ["tests/test_app.py", "examples/http/test_cookies.py"]


def test_words_of_the_change_in_the_path_bring_a_file_nearer() -> None:
    tests = [f"tests/{name}/tests.py" for name in ("admin", "annotations", "expressions_window", "queries", "utils")]
    change = ChangeSummary(["web/db/query.py"], ["resolve_expression", "check"])
    assert sort_nearest(tests, ["tests/queries/tests.py"], change)[:2] == [
        "tests/queries/tests.py",
        "tests/expressions_window/tests.py",
    ]
    assert sort_nearest(tests, [], ChangeSummary(["web/utils.py"]))[0] == "tests/utils/tests.py"


def test_file_that_names_the_change_is_nearer_and_rare_names_weigh_more() -> None:
    tests = [f"tests/test_{letter}.py" for letter in "abcdef"]
    everywhere = {path: {"self", "assert"} for path in tests}
    mentions = {**everywhere, "tests/test_e.py": {"self", "flush_later"}, "tests/test_c.py": {"self", "flush"}}
    mentions["tests/test_d.py"] = {"self", "flush"}
    order = sort_nearest(tests, [], ChangeSummary(["lib/q.py"], ["self", "flush", "flush_later"], mentions))
    assert order[:3] == ["tests/test_e.py", "tests/test_c.py", "tests/test_d.py"]


def test_changed_words_are_the_names_in_changed_lines_and_around_them() -> None:
    diff = """\
diff --git a/lib/q.py b/lib/q.py
--- a/lib/query_file.py
+++ b/lib/query_file.py
@@ -1,5 +1,5 @@ class Query: # @@ build_lookup
 untouched = 1
-    old_name(x)
+    new_name(x, HTTPThing)
"""
    assert find_words(["Query.add_filter"], diff, diff) == [
        *("Query", "add_filter", "class", "build_lookup", "old_name", "new_name", "HTTPThing")
    ]
    many = "\n".join(f"+name_{number}" for number in range(MOST_WORDS * 2))
    assert len(find_words([], many)) == MOST_WORDS


def test_project_under_test_is_no_test() -> None:
    tests = ["tests/test_a.py", "tests/b_test.py", "tests/apps/wsgi.py", "src/FooTest.java", "a.spec.ts", "contest.py"]
    marked = ["tests/test_a.py", "tests/b_test.py", "src/FooTest.java", "a.spec.ts"]
    assert select_named(["tests/test_own.py"], tests) == marked
    assert select_named(["tests/own.rs"], tests) == tests


def test_helper_among_own_test_files_does_not_hide_naming_of_tests() -> None:
    own = ["tests/queries/models.py", "tests/queries/tests.py"]
    assert select_named(own, ["tests/model_forms/models.py", "tests/model_forms/tests.py", *own]) == [
        "tests/model_forms/tests.py",
        "tests/queries/tests.py",
    ]


def test_texts_on_the_changed_lines_are_words_of_the_change_each_once() -> None:
    diff = """\
--- a/cli.py
+++ b/cli.py
@@ -1,3 +1,3 @@ def routes("not this"):
 headers = ["Endpoint"]
-order = "endpoint"
+order = {"domain": 'Host', "endpoint": " "}
+say("it's", "")
"""
    assert find_quoted(diff, diff) == ("endpoint", "domain", "Host", "it's")


def test_texts_are_as_code_sees_them() -> None:
    diff = r"""
+if text == "\n" or text.startswith('""\"\r\n') or re.match(r"\d+\"", text):
+    say('it\'s', b"\xff\u20ac", "c:\qux", "a\\b")
"""
    found = find_quoted(diff)
    assert found == ("\n", '"""\r\n', '\\d+\\"', "it's", "\xff\u20ac", "c:\\qux", "a\\b")


def test_long_change_does_not_bury_the_words_that_differ() -> None:
    apart = "-x = 'one'\n+x = 'two'"
    release = "\n".join(f"+x = 'word {number}'" for number in range(100))
    found = find_quoted(apart, release)
    assert found[:2] == ("one", "two")
    assert len(found) == 2 + FEWEST_QUOTED
    assert len(find_quoted(release, release)) == MOST_QUOTED


def test_numbers_of_the_change_are_among_its_texts_but_those_that_are_tried_anyway() -> None:
    diff = '+f(x1, limit=1000, tries=2, version="3.50", part=2.75, size=12)'
    assert find_quoted(diff) == ("3.50", "1000", "12")
