"""Instances from pairs of releases: found in indexes of our own, compared, and loaded again from facts."""

import json
import shutil
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from assay.harness.errors import DataError
from assay.harness.patches.diff import find_touched_paths
from assay.instances.collect.folder import CollectionFolder, CollectionSettings
from assay.instances.collect.releases import (
    BUNDLED_PACKAGES,
    Package,
    find_releases,
    pair_releases,
    parse_package,
    read_packages,
)
from assay.instances.collect.steps import Found, Paired, Phase
from assay.instances.dataset.derive import fill
from assay.instances.trees.sources import Sources
from toys import CrateIndex, GoProxy, Index, NpmRegistry

pytestmark = pytest.mark.slow

LOG = "# Changes\n\n## 1.1.0\n\n- total([]) is 0; it raised IndexError.\n\n## 1.0.0\n\n- First.\n"
OLD: Mapping[str, str] = {
    "PKG-INFO": "Name: calc\nProject-URL: Issues, https://github.com/other/tracker\n"
    "Project-URL: Source, https://github.com/acme/calc.git\n",
    "CHANGES.md": LOG.replace("## 1.1.0\n\n- total([]) is 0; it raised IndexError.\n\n", ""),
    "calc.py": "def total(numbers):\n    return numbers[0] + sum(numbers[1:])\n",
    "tests/test_calc.py": "def test_one(): pass\n",
}
NEW = {
    **OLD,
    "CHANGES.md": LOG,
    "calc.py": "def total(numbers):\n    return sum(numbers)\n",
    "tests/test_calc.py": "def test_one(): pass\n\n\ndef test_two(): pass\n",
}
SPAN = (date(2026, 3, 1), date(2026, 3, 31))
CALC = Package("pypi", "calc")


def found(
    package: Package, sources: Sources, since: date | None = SPAN[0], until: date | None = SPAN[1]
) -> list[Found]:
    return list(find_releases(package, sources, since, until))


def pairs(lines: list[Found]) -> list[tuple[str, str]]:
    return [(each.releases.old.version, each.releases.new.version) for each in lines if each.releases]


def paired(index: Index, sources: Sources, new: Mapping[str, str] = NEW, stated: str = "") -> Paired:
    index.add("calc", "1.0.0", OLD, "2026-01-01T00:00:00Z")
    index.add("calc", "1.1.0", new, "2026-03-02T10:00:00Z")
    (line,) = found(CALC, sources)
    return pair_releases(line, sources, stated)


def test_a_release_between_the_dates_is_paired_with_the_version_before_it(index: Index, sources: Sources) -> None:
    for version, day in (
        ("2.0.0", "2026-02-01"),
        ("1.9.0", "2026-01-01"),
        ("1.9.1", "2026-03-31"),
        ("2.0.1", "2026-04-01"),
    ):
        index.add("calc", version, {}, f"{day}T23:59:59Z")
    lines = found(CALC, sources)
    assert [each.id for each in lines] == ["pypi__calc-1.9.1"]
    assert pairs(lines) == [("1.9.0", "1.9.1")]
    assert pairs(found(CALC, sources, None, None)) == [("1.9.0", "1.9.1"), ("1.9.1", "2.0.0"), ("2.0.0", "2.0.1")]


def test_candidates_and_withdrawn_releases_are_no_releases(index: Index, sources: Sources) -> None:
    index.add("calc", "1.0.0", {}, "2026-01-01T00:00:00Z")
    index.add("calc", "1.1.0rc1", {}, "2026-03-01T00:00:00Z")
    index.add("calc", "1.1.0", {}, "2026-03-02T00:00:00Z", yanked="broken")
    index.add("calc", "1.10.0", {}, "2026-03-03T00:00:00Z")
    index.add("calc", "1.9.0", {}, "2026-03-03T00:00:00Z")
    assert pairs(found(CALC, sources)) == [("1.0.0", "1.9.0"), ("1.9.0", "1.10.0")]


def test_a_package_without_a_pair_has_a_line_with_the_reason(index: Index, sources: Sources) -> None:
    index.add("calc", "1.0.0", {}, "2026-03-01T00:00:00Z")
    index.add("still", "1.0.0", {}, "2025-03-01T00:00:00Z")
    assert [(each.id, each.rule) for each in found(CALC, sources)] == [("pypi__calc-1.0.0", "first")]
    (still,) = found(Package("pypi", "still"), sources)
    assert (still.rule, still.reason) == ("no release", "no final release came out between the dates")
    (missing,) = found(Package("pypi", "missing"), sources)
    assert (missing.rule, "404" in missing.reason) == ("not here", True)


def test_an_index_without_dates_is_named(index: Index, sources: Sources) -> None:
    index.add("calc", "1.0.0", {})
    (line,) = found(CALC, sources)
    assert line.reason == "the package index does not say when releases of calc came out"


def test_releases_of_a_go_module(go_proxy: GoProxy, sources: Sources) -> None:
    for version, day in (("v1.2.0", "2026-01-01"), ("v1.10.0", "2026-03-01"), ("v1.10.0-rc.1", "2026-03-01")):
        go_proxy.add("github.com/Acme/calc", version, {"calc.go": "package calc\n"}, f"{day}T00:00:00Z")
    (line,) = found(Package("go", "github.com/Acme/calc"), sources)
    assert (line.id, pairs([line])) == ("go__Acme-calc-1.10.0", [("v1.2.0", "v1.10.0")])
    go_proxy.add(
        "github.com/Acme/calc", "v1.11.0", {"LICENSE": "x", "calc_test.go": "package calc\n"}, "2026-03-05T00:00:00Z"
    )
    line = found(Package("go", "github.com/Acme/calc"), sources)[-1]
    instance = pair_releases(line, sources).instance
    assert instance
    assert (instance.repo, instance.language, instance.version) == ("Acme/calc", "go", "1.10.0")


def test_releases_of_a_crate(crate_index: CrateIndex, sources: Sources) -> None:
    crate_index.add("calc-rs", "0.1.0", {})
    crate_index.add("calc-rs", "0.1.1", {}, "2026-02-01T00:00:00Z", yanked=True)
    crate_index.add("calc-rs", "0.1.2", {}, "2026-03-01T00:00:00Z")
    assert pairs(found(Package("crates", "calc-rs"), sources)) == [("0.1.0", "0.1.2")]


def test_releases_of_an_npm_package(npm_registry: NpmRegistry, sources: Sources) -> None:
    log = "## 1.0.1 - 2026-03-02\n\nFixed.\n\n## 1.0.0\n"
    npm_registry.add("calc", "1.0.0", {"CHANGELOG.md": "## 1.0.0\n"}, "2026-01-01T00:00:00Z")
    new = npm_registry.add("calc", "1.0.1", {"CHANGELOG.md": log, "test/calc.js": "1\n"}, "2026-03-03T00:00:00Z")
    (line,) = found(Package("npm", "calc"), sources)
    done = pair_releases(line, sources)
    assert done.derivation
    assert done.derivation.new.sha256 == new.sha256  # the index did not say it
    assert done.instance
    assert find_touched_paths(done.instance.test_patch) == ("test/calc.js",)
    assert (done.instance.repo, done.instance.created_at) == ("npm/calc", datetime(2026, 3, 2, tzinfo=UTC))


def test_the_day_of_a_copy_is_not_taken_for_that_of_a_release(npm_registry: NpmRegistry, sources: Sources) -> None:
    for version, day in (
        ("0.9.0", "2026-01-01"),
        ("1.0.0", "2026-03-20"),
        ("1.0.1", "2015-01-01"),
        ("1.0.2", "2026-03-01"),
    ):
        npm_registry.add("calc", version, {}, f"{day}T00:00:00Z")
    copied, unsure = found(Package("npm", "calc"), sources)
    assert (copied.id, copied.rule) == ("npm__calc-1.0.0", "date")
    assert copied.reason == "the index gives a copy's day: 1.0.1 is older"
    assert (
        pair_releases(unsure, sources).reason == "the index may give the day of a copy, and the change log gives none"
    )


def test_a_change_log_with_another_day_than_the_index_is_doubted(index: Index, sources: Sources) -> None:
    done = paired(index, sources, {**NEW, "CHANGES.md": LOG.replace("## 1.1.0", "## 1.1.0 (2019-05-01)")})
    assert (done.rule, done.reason) == ("date", "the index gives 2026-03-02, the change log 2019-05-01")


def test_two_releases_become_an_instance_that_facts_give_again(index: Index, sources: Sources) -> None:
    done = paired(index, sources)
    assert (done.rule, done.statement_from) == ("", "change log")
    instance, spec = done.instance, done.derivation
    assert instance
    assert spec
    assert (instance.repo, instance.version, instance.created_at.day) == ("acme/calc", "1.0.0", 2)
    assert find_touched_paths(instance.gold_patch) == ("calc.py",)
    assert find_touched_paths(instance.test_patch) == ("tests/test_calc.py",)
    facts = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    filled = fill({"instance_id": instance.id, "repo": instance.repo, "derive": facts}, sources)
    for name in ("gold_patch", "test_patch", "problem_statement", "archive"):
        assert filled[name] == getattr(instance, name)


@pytest.mark.parametrize(
    ("log", "statement"),
    [
        (LOG, "## 1.1.0\n\n- total([]) is 0; it raised IndexError.\n"),
        (LOG.replace("## 1.1.0", "## v1.1.0"), "## v1.1.0\n\n- total([]) is 0; it raised IndexError.\n"),
        ("1.1.0: total([]) is 0\n1.0.0: First\n", "1.1.0: total([]) is 0\n1.0.0: First\n"),
        (LOG.replace("1.1.0", "Next"), ""),
    ],
)
def test_the_statement_is_what_the_change_log_adds(index: Index, sources: Sources, log: str, statement: str) -> None:
    instance = paired(index, sources, {**NEW, "CHANGES.md": log}).instance
    assert instance
    assert instance.problem_statement == statement


def test_a_statement_of_the_users_own_is_kept_in_place_of_a_change_log(index: Index, sources: Sources) -> None:
    done = paired(index, sources, stated="The total of nothing raises.\n")
    assert done.instance
    assert done.derivation
    assert (done.instance.problem_statement, done.statement_from) == ("The total of nothing raises.\n", "file")
    assert done.derivation.statement is None


def test_an_archive_that_cannot_be_had_is_asked_for_again_later(index: Index, sources: Sources) -> None:
    index.add("calc", "1.0.0", OLD, "2026-01-01T00:00:00Z")
    index.add("calc", "1.1.0", NEW, "2026-03-02T10:00:00Z")
    (line,) = found(CALC, sources)
    shutil.rmtree(index.folder / "files")
    assert pair_releases(line, sources).rule == "not here"


def test_names_of_packages_and_of_repositories_can_be_told_apart() -> None:
    assert parse_package("go:github.com/acme/calc/v2") == Package("go", "github.com/acme/calc/v2")
    for name in ("acme/calc", "pypi:", "maven:org.acme:calc", "calc"):
        assert parse_package(name) is None


def test_the_bundled_packages_are_names_of_the_four_indexes() -> None:
    names = read_packages(BUNDLED_PACKAGES)
    assert len(names) == len(set(names))
    assert {name.partition(":")[0] for name in names} == {"pypi", "go", "crates", "npm"}
    assert all(parse_package(name) for name in names)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a, b]", "is no mapping of indexes to lists of packages"),
        ("pipy: [a]", "field pipy: is no package index; known are crates, go, npm, pypi"),
        ("pypi: a", "field pypi: is no list of packages"),
        ("pypi: [", "is not YAML"),
    ],
)
def test_a_wrong_file_of_packages_is_named(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "packages.yaml").write_text(text)
    with pytest.raises(DataError) as caught:
        read_packages(tmp_path / "packages.yaml")
    assert problem in str(caught.value)


def test_the_repository_comes_from_the_manifest_of_each_index(npm_registry: NpmRegistry, sources: Sources) -> None:
    manifest = json.dumps({"name": "calc", "repository": {"url": "git+https://github.com/acme/calc-js.git"}}, indent=1)
    log = "## 1.0.1 - 2026-03-02\n\n## 1.0.0\n"
    npm_registry.add("calc", "1.0.0", {"package.json": manifest}, "2026-01-01T00:00:00Z")
    npm_registry.add("calc", "1.0.1", {"package.json": manifest, "CHANGELOG.md": log}, "2026-03-03T00:00:00Z")
    (line,) = found(Package("npm", "calc"), sources)
    instance = pair_releases(line, sources).instance
    assert instance
    assert instance.repo == "acme/calc-js"


def test_lines_of_releases_are_read_back_as_they_were_written(index: Index, sources: Sources, tmp_path: Path) -> None:
    done = paired(index, sources)
    folder = CollectionFolder(tmp_path / "mine")
    folder.open(CollectionSettings(repos=("pypi:calc",)))
    folder.add(Phase.PAIR, done)
    assert folder.read(Phase.PAIR, Paired) == [done]
