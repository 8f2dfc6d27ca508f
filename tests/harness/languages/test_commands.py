"""The test commands as a shell runs them, with stand-ins for the tools: statuses and reports must be the tools' own."""

import shlex
import subprocess
from pathlib import Path

import pytest

from assay.harness.languages import LANGUAGES, find

LOG = 'echo "$(basename "$0") in $PWD: $*" >> "$TOOLS/calls"\n'


class Place:
    """A tree, a folder for reports, and stub tools that a test writes."""

    def __init__(self, root: Path) -> None:
        self.tree, self.reports, self.tools = root / "tree", root / "reports", root / "tools"
        for folder in (self.tree, self.reports, self.tools):
            folder.mkdir()

    def tool(self, name: str, body: str = "", *, at: str = "") -> None:
        path = (self.tree / at if at else self.tools) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{LOG}{body}\n")
        path.chmod(0o755)

    def write(self, path: str, text: str = "") -> None:
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text(text)

    def run(self, language: str, *targets: str) -> int:
        script = filled(language, str(self.reports), *targets)
        env = {"PATH": f"{self.tools}:/usr/bin:/bin", "TOOLS": str(self.tools)}
        return subprocess.run(["bash", "-c", script], cwd=self.tree, env=env, check=False).returncode

    @property
    def calls(self) -> list[str]:
        text = (self.tools / "calls").read_text().replace(str(self.tree), "TREE").replace(str(self.reports), "REPORTS")
        return text.splitlines()

    @property
    def reported(self) -> list[str]:
        return sorted(str(path.relative_to(self.reports)) for path in self.reports.rglob("*") if path.is_file())


def filled(language: str, reports: str, *targets: str) -> str:
    values = {"{files}": shlex.join(targets), "{reports}": reports, "{report}": f"{reports}/report", "{tripwires}": ""}
    # A container's /tmp is its own; here it is a folder of the test. Its programs are the test's stubs.
    script = find(language).TEST_COMMAND.replace("/tmp/", f"{reports}-tmp-").replace("/usr/bin/", "")
    script = script.replace("/opt/assay/with_gems ", "").replace("/opt/assay/with_vendor ", "")
    for placeholder, value in values.items():
        script = script.replace(placeholder, value)
    return script


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("targets", [(), ("a", "b c")])
def test_command_is_shell_and_leaves_a_report(language: str, targets: tuple[str, ...]) -> None:
    command = find(language).TEST_COMMAND
    assert "{report}" in command or "{reports}" in command
    script = filled(language, "/tmp/r", *targets)
    subprocess.run(["bash", "-n", "-c", script], check=True)


def test_go_package_is_tested_in_its_own_module(place: Place) -> None:
    place.write("go.mod")
    place.write("tools/gen/go.mod")
    for path in ("tools/gen/inner/a_test.go", "tools/gen/a_test.go", "core/b_test.go", "c_test.go"):
        place.write(path)
    place.tool("go", 'echo "{}"')
    assert place.run("go", "./core", "./tools/gen/inner", "./tools/gen", ".") == 0
    flags = "test -json -vet=off -count=1 -timeout=0"
    assert place.calls == [
        f"go in TREE: {flags} TREE/./core",
        f"go in TREE/tools/gen: {flags} TREE/./tools/gen/inner",
        f"go in TREE/tools/gen: {flags} TREE/./tools/gen",
        f"go in TREE: {flags} TREE/.",
    ]
    assert (place.reports / "report").read_text() == "{}\n" * 4


def test_go_without_files_runs_everything_and_keeps_a_failure(place: Place) -> None:
    place.write("go.mod")
    place.tool("go", "exit 1")
    assert place.run("go") == 1
    assert place.calls == ["go in TREE: test -json -vet=off -count=1 -timeout=0 TREE/./..."]


def test_go_failure_of_one_package_stays_after_the_next(place: Place) -> None:
    place.write("go.mod")
    place.write("bad/a_test.go")
    place.write("good/a_test.go")
    place.tool("go", 'case "$*" in *bad) exit 1;; esac')
    assert place.run("go", "./bad", "./good") == 1


def test_go_test_data_belong_to_the_next_package_above_or_to_all(place: Place) -> None:
    place.write("go.mod")
    place.write("core/a_test.go")
    place.tool("go")
    assert place.run("go", "./core/tests/more", "./core", "./tests/data") == 0
    assert [call.rpartition("/./")[2] for call in place.calls] == ["core", "..."]


def test_cargo_report_joins_programs_and_rustdoc_and_keeps_the_status(place: Place) -> None:
    documented = 'echo "test src/lib.rs - f (line 1) ... ok"'
    tests = 'echo printed; echo "test a ... FAILED" >> "$ASSAY_REPORT"; exit 101'
    place.tool("cargo", f'case "$*" in *--doc*) {documented} ;; *) {tests} ;; esac')
    assert place.run("rust") == 101
    assert (place.reports / "report").read_text() == "test a ... FAILED\ntest src/lib.rs - f (line 1) ... ok\n"


@pytest.mark.parametrize(("said", "status"), [("no library targets found in package `x`", 0), ("cannot be read", 101)])
def test_cargo_package_without_a_library_has_no_doc_tests(said: str, status: int, place: Place) -> None:
    place.tool("cargo", f'case "$*" in *--doc*) echo "error: {said}" >&2; exit 101;; esac')
    assert place.run("rust") == status


@pytest.mark.parametrize(("language", "tool", "status"), [("rust", "cargo", 134), ("php", "php", 255)])
def test_after_tests_or_a_configuration_that_do_not_finish_nothing_runs(
    language: str, tool: str, status: int, place: Place
) -> None:
    place.tool("phpunit")
    place.tool(tool, f"exit {status}")
    assert place.run(language) == status
    assert len(place.calls) == 1


def test_maven_reports_of_all_modules_are_collected_and_old_ones_deleted(place: Place) -> None:
    place.write("core/target/surefire-reports/TEST-forged.xml")
    write = "mkdir -p $m/target/surefire-reports; echo . > $m/target/surefire-reports/TEST-$m.xml"
    place.tool("mvn", f"for m in core extra; do {write}; done; exit 1")
    assert place.run("java", "ATest", "BTest") == 1
    assert place.reported == [f"{name}/target/surefire-reports/TEST-{name}.xml" for name in ("core", "extra")]
    assert " -Dtest=ATest,BTest " in place.calls[0]


def test_maven_is_given_the_classes_in_files_of_kotlin(place: Place) -> None:
    place.write("src/test/kotlin/people.kt", 'package acme\n\n@Tag("a") internal class ATest {\n    class Inner\n}\n')
    place.write("src/test/kotlin/b.kt", "// class CommentTest\nobject BTest : Base()\nfun classTest() = 1\nclass CTest")
    place.tool("mvn")
    assert place.run("kotlin", "src/test/kotlin/people.kt", "src/test/kotlin/b.kt") == 0
    assert " -Dtest=ATest,BTest,CTest " in place.calls[0]


def test_maven_without_classes_runs_all(place: Place) -> None:
    place.tool("mvn")
    assert place.run("java") == 0
    assert "-Dtest=" not in place.calls[0]
    assert place.reported == []


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_jest_is_given_paths_not_patterns(language: str, place: Place) -> None:
    place.tool("jest", "exit 1", at="node_modules/.bin")
    assert place.run(language, "test/a.test.js") == 1
    assert place.run(language) == 1
    common = "jest in TREE: --ci --json --verbose --bail=0 --outputFile=REPORTS/report --reporters=default"
    assert place.calls == [f"{common} --runTestsByPath test/a.test.js", common]


@pytest.mark.parametrize("step", ["-S", "--build"])
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_failed_build_ends_with_its_status_and_no_report(language: str, step: str, place: Place) -> None:
    place.tool("cmake", f'case "$1" in {step}) exit 2;; esac')
    place.tool("ctest", f'echo "<testsuite failures=\\"0\\"/>" > {place.reports}/ctest.xml')
    assert place.run(language) == 2
    assert place.reported == []
    assert "ctest" not in " ".join(place.calls)


def test_googletest_list_of_tests_is_not_a_report(place: Place) -> None:
    place.tool("cmake")
    listed = '<testsuites tests=\\"1\\" name=\\"AllTests\\"><testcase name=\\"A\\"/></testsuites>'
    ran = '<testsuites tests=\\"1\\" failures=\\"1\\"/>'
    folder = '"${GTEST_OUTPUT#xml:}"'
    place.tool("ctest", f'echo "{listed}" > {folder}listed.xml; echo "{ran}" > {folder}ran.xml; exit 8')
    assert place.run("c") == 8
    assert place.reported == ["ran.xml"]


def test_rspec_without_files_runs_its_folder_and_keeps_a_failure(place: Place) -> None:
    options = "--no-color --no-fail-fast --format documentation --format json --out REPORTS/report"
    place.tool("rspec", "exit 1")
    assert place.run("ruby", "spec/a_spec.rb") == 1
    assert place.run("ruby") == 1
    assert place.calls == [f"rspec in TREE: {options} spec/a_spec.rb", f"rspec in TREE: {options} spec"]


def test_phpunit_runs_all_files_as_one_configuration_in_one_process(place: Place) -> None:
    place.tool("php")
    place.tool("phpunit", "exit 2")
    place.tool("phpunit", "exit 0", at="vendor/bin")
    assert place.run("php", "tests/TwoTest.php", "tests/OneTest.php") == 2
    assert place.calls == [
        "php in TREE: /opt/assay/phpunit.php assay-phpunit.xml  tests/TwoTest.php tests/OneTest.php",
        "phpunit in TREE: --configuration assay-phpunit.xml --testdox --log-junit REPORTS/report",
    ]
