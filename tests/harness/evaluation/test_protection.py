from collections.abc import Sequence

import pytest

from assay.harness.domain import Instance, TestPlan
from assay.harness.evaluation.changes import Changes
from assay.harness.evaluation.protection import (
    ImportLine,
    Installed,
    NamedLikeTests,
    check_spelling,
    find_named_like_tests,
    put_back,
)
from assay.harness.patches.diff import MalformedPatchError
from tables import read_tables

TABLES = read_tables(__file__)

PLAN = TestPlan(command="pytest", restore=("tests/test_calc.py",))


def diff(*paths: str) -> str:
    return "".join(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n" for path in paths)


def find_named(
    instance: Instance,
    plan: TestPlan,
    created: Sequence[str],
    patch: str,
    known: Sequence[str] = (),
    *lines: ImportLine,
) -> NamedLikeTests:
    changes = Changes((*created, *known), (*created,))
    return find_named_like_tests(instance, plan, changes, patch, lambda _words: lines)


def test_files_that_steer_the_runner_are_put_back_at_any_depth(instance: Instance) -> None:
    steering = ("conftest.py", "a/b/conftest.py", "setup.cfg", "src/sitecustomize.py", "x.pth", "docs/.gitattributes")
    back = put_back(instance, PLAN, ["calc.py", *steering])
    assert back.paths == tuple(sorted(steering))
    assert back.flags == ("runner_configuration_put_back",)


def test_steering_file_that_the_gold_patch_touches_stays_unless_it_has_attributes(instance: Instance) -> None:
    fix = instance.model_copy(update={"gold_patch": diff("setup.cfg", "src/.gitattributes", "calc.py")})
    assert put_back(fix, PLAN, ["setup.cfg", "calc.py", "src/.gitattributes"]).paths == ("src/.gitattributes",)


def test_changed_and_new_test_files_are_put_back(instance: Instance) -> None:
    changed = ["tests/data/golden.txt", "tests/__init__.py", "calc.py", "test_own.py"]
    assert set(put_back(instance, PLAN, changed).paths) == {*changed} - {"calc.py"}


def test_package_that_shadows_a_test_module_is_put_back(instance: Instance) -> None:
    plan = PLAN.model_copy(update={"restore": ("check_calc.py",)})
    assert "check_calc/__init__.py" in put_back(instance, plan, ["check_calc/__init__.py", "calc.py"]).paths


def test_build_products_are_put_back_whatever_their_case(instance: Instance) -> None:
    back = put_back(instance, PLAN, ["src/helper.EGG-INFO/entry_points.txt"])
    assert "src/helper.EGG-INFO/entry_points.txt" in back.paths
    assert back.flags == ("build_products_left_out",)


STEERING = {
    "python": ["sitecustomize/__init__.py", "a/usercustomize/x.py", "x.egg-info", "a/b.dist-info/c"],
    "go": ["vendor", "a/vendor", "vendor/x/y.go", "go.work"],
    "rust": [".cargo", "a/.cargo/config.toml", "target", "a/Cargo.toml"],
    "java": ["gradle", "gradle/x", "a/.mvn", "buildSrc", "a/target/classes", "build/libs"],
    "kotlin": ["a/kotest.properties", "build.gradle.kts", "buildSrc", ".kotlin/sessions", "target/kotlin-ic"],
    "javascript": [".yarn", "a/.yarn/x", "node_modules", "a/node_modules"],
    "typescript": [".yarn", "node_modules"],
    "c": ["gtest", "a/gmock/x.h", "CMakeFiles", "assay-build"],
    "cpp": ["googletest"],
    "php": ["vendor", "Vendor/x.php", ".phpunit.cache"],
    "ruby": [".bundle", "vendor/bundle"],
}


@pytest.mark.parametrize(("language", "path"), [(name, path) for name, paths in STEERING.items() for path in paths])
def test_steering_folder_is_put_back_by_its_own_name(instance: Instance, language: str, path: str) -> None:
    other = instance.model_copy(update={"language": language})
    assert put_back(other, PLAN, [path]).paths == (path,)


STAND_INS = {
    "python": ["pytest.py", "_pytest/__init__.py", "unittest/case.py"],
    "java": ["src/main/java/org/junit/Test.java"],
    "kotlin": ["src/main/java/org/junit/Test.java", "src/main/kotlin/kotlin/test/Test.java"],
    "ruby": ["lib/rspec/core.rb"],
}


@pytest.mark.parametrize(("language", "path"), [(name, path) for name, paths in STAND_INS.items() for path in paths])
def test_what_stands_in_for_the_runner_is_put_back_unless_the_project_is_one(
    instance: Instance, language: str, path: str
) -> None:
    other = instance.model_copy(update={"language": language})
    assert put_back(other, PLAN, [path]).paths == (path,)
    fix = other.model_copy(update={"gold_patch": diff(path.replace("case", "main").replace("Test.java", "Rule.java"))})
    assert put_back(fix, PLAN, [path]).paths == ()


@pytest.mark.parametrize(("path", "how"), TABLES["name_that_could_be_taken_for_a_protected_one_is_refused"])
def test_name_that_could_be_taken_for_a_protected_one_is_refused(instance: Instance, path: str, how: str) -> None:
    with pytest.raises(MalformedPatchError, match=f"protected .* only by {how}"):
        check_spelling(instance, PLAN, ["calc.py", path])


def test_composed_and_decomposed_names_are_one(instance: Instance) -> None:
    plan = PLAN.model_copy(update={"restore": ("checks/t\u00e9st.txt",)})
    with pytest.raises(MalformedPatchError, match="only by Unicode form"):
        check_spelling(instance, plan, ["checks/te\u0301st.txt"])


@pytest.mark.parametrize(("language", "path"), TABLES["ordinary_name_passes"])
def test_ordinary_name_passes(instance: Instance, language: str, path: str) -> None:
    check_spelling(instance.model_copy(update={"language": language}), PLAN, [path])


def test_name_that_the_fix_uses_passes(instance: Instance) -> None:
    check_spelling(instance.model_copy(update={"gold_patch": diff("Conftest.py")}), PLAN, ["Conftest.py"])


def new_file(path: str, line: str = "x = 1") -> str:
    return f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n"


def using(line: str, path: str = "calc.py") -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+{line}\n"


@pytest.mark.parametrize(("language", "path", "line"), TABLES["new_source_that_looks_like_a_test_stays"])
def test_new_source_that_looks_like_a_test_stays(instance: Instance, language: str, path: str, line: str) -> None:
    other = instance.model_copy(update={"language": language})
    plan = PLAN.model_copy(update={"targets": ("tests/test_calc.py",)})
    named = find_named(other, plan, [path], new_file(path) + using(line, "core.x"))
    assert (named.sources, named.others) == (frozenset({path}), frozenset())
    back = put_back(other, plan, [path, "core.x"], named=named)
    assert (back.paths, back.flags) == ((), ())


@pytest.mark.parametrize(
    ("language", "path", "patch"),
    [
        ("python", "test_fix.py", new_file("test_fix.py", "import test_fix")),
        ("python", "calc/test_calc.py", using("from calc import test_calc")),
        ("python", "calc/test_names.py", using("import test_names", "tests/test_other.py")),
        ("go", "calc/names_test.go", using("// names_test", "calc.go")),
        ("java", "NamesTest.java", using("NamesTest x;", "Calc.java")),
        ("javascript", "src/names.test.js", using("import './names.test'", "core.js")),
    ],
)
def test_new_file_that_is_no_source_is_put_back_and_flagged(
    instance: Instance, language: str, path: str, patch: str
) -> None:
    other = instance.model_copy(update={"language": language})
    plan = PLAN.model_copy(update={"targets": ("tests/test_calc.py",)})
    named = find_named(other, plan, [path], patch)
    back = put_back(other, plan, [path], named=named)
    assert (back.paths, back.flags) == ((path,), ("files_named_like_tests_left_out",))


def test_source_that_a_runner_could_take_for_expected_tests_is_put_back(instance: Instance) -> None:
    other = instance.model_copy(update={"language": "javascript"})
    plan = PLAN.model_copy(update={"test_id": "any_title"})
    assert find_named(other, plan, ["src/test.js"], using("import './test'", "core.js")).others == {"src/test.js"}


@pytest.mark.parametrize(
    ("path", "line", "is_source"),
    [
        ("hello/tests.py", ImportLine("hello/__init__.py", "from hello.tests import is_even"), True),
        ("hello/tests.py", ImportLine("hello/env.py", "    from . import tests"), True),
        ("hello/tests.py", ImportLine("tests/test_a.py", "from hello.tests import is_even"), False),
        ("hello/tests.py", ImportLine("setup.py", 'packages = find_packages(exclude=["tests"])'), False),
        ("hello/tests.py", ImportLine("hello/a.py", "from hello.tests_of import x"), False),
        ("hello/test_calc.py", ImportLine("hello/a.py", "from hello.test_calc import x"), False),
    ],
)
def test_source_of_the_base_that_looks_like_a_test_stays_if_the_base_imports_it(
    instance: Instance, path: str, line: ImportLine, is_source: bool
) -> None:
    plan = PLAN.model_copy(update={"targets": ("tests/test_calc.py",)})
    assert find_named(instance, plan, (), "", [path], line).sources == ({path} if is_source else set())


@pytest.mark.parametrize(
    ("created", "line", "others", "is_source"),
    [
        ("calc/tests/names.py", "from calc.tests import names", (), True),
        ("calc/tests/deep/names.py", "from calc.tests.deep import names", (), True),
        ("calc/tests/names.py", "from calc.tests import names", ("calc/tests/__init__.py",), False),
        ("calc/tests/names.py", "from calc.tests import names", ("calc/tests/data/a.txt",), False),
        ("calc/tests/names.py", "tests = names", (), False),
        ("calc/tests/test_names.py", "from calc.tests import test_names", (), False),
        ("tests/names.py", "from tests import names", (), False),
    ],
)
def test_source_in_a_new_folder_of_tests_stays_if_the_product_imports_it(
    instance: Instance, created: str, line: str, others: Sequence[str], is_source: bool
) -> None:
    """The tests of the instance are in ``tests``."""
    named = find_named(instance, PLAN, [created], new_file(created) + using(line), others)
    assert named.sources == ({created} if is_source else set())


def test_new_file_in_a_folder_of_tests_is_put_back_without_a_word(instance: Instance) -> None:
    named = find_named(instance, PLAN, ["tests/test_new.py"], using("import test_new"))
    assert put_back(instance, PLAN, ["tests/test_new.py"], named=named).flags == ()


@pytest.mark.parametrize("changes", [{"targets": ("tests/test_calc.py",), "test_id": "any_title"}, {"test_id": "node"}])
def test_runner_that_is_told_its_files_or_names_them_tells_a_source_apart(
    instance: Instance, changes: dict[str, object]
) -> None:
    patch = new_file("calc/test_names.py") + using("import test_names")
    named = find_named(instance, PLAN.model_copy(update=changes), ["calc/test_names.py"], patch)
    assert named.sources == {"calc/test_names.py"}


def test_new_file_without_the_name_of_a_test_is_not_looked_at(instance: Instance) -> None:
    assert find_named(instance, PLAN, ["calc/new.py"], new_file("calc/new.py")) == NamedLikeTests()


def test_tests_and_steering_files_that_an_installation_changed_are_put_back(instance: Instance) -> None:
    changed, created = ("tests/test_a.py", "calc.py", "setup.cfg"), ("conftest.py", "tests/test_new.py", "calc.so")
    products = ("calc.egg-info/x.pth",)
    installed = Installed((*changed, *products), (*created, *products))
    back = put_back(instance, PLAN, (), installed)
    assert (back.paths, back.flags) == (("conftest.py", "setup.cfg", "tests/test_a.py"), ())
    fix = instance.model_copy(update={"gold_patch": diff("setup.cfg", "tests/test_a.py")})
    assert put_back(fix, PLAN, (), installed).paths == ("conftest.py",)


def test_of_a_language_that_is_not_known_only_attributes_are_put_back(instance: Instance) -> None:
    other = instance.model_copy(update={"language": "cobol"})
    installed = Installed(("conftest.py",), ("tests/test_a.py",))
    assert put_back(other, PLAN, ["tests/x.cob", ".gitattributes"], installed).paths == (".gitattributes",)
    assert find_named(other, PLAN, ["test_x.cob"], "") == NamedLikeTests()
