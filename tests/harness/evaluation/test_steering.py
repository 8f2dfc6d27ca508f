"""Whose version of a steering file the run uses, where the fix and the patch change it."""

import pytest

from assay.harness.domain import Instance, TestPlan
from assay.harness.evaluation.protection import put_back
from assay.harness.evaluation.steering import (
    FROM_GOLD,
    FROM_PATCH,
    Disputed,
    Settled,
    find_disputed_changes,
    settle_disputes,
)
from assay.harness.patches.diff import read_diff
from corpus.model import diff
from toy import make_instance

BASE = {
    "Cargo.toml": '[package]\nname = "a"\nversion = "1.0.0"\n',
    "src/lib.rs": "fn a() {}\n",
    "build.rs": "fn main() {}\n",
}
FIX = {"Cargo.toml": BASE["Cargo.toml"].replace("1.0.0", "1.1.0"), "src/lib.rs": "fn a() { }\n"}
EVIL = BASE["Cargo.toml"] + '[[test]]\nname = "a"\npath = "x.rs"\n'
PLAN = TestPlan(command="true", restore=("check.rs",))


@pytest.fixture
def rust():
    def rust(fix: dict[str, str | None], **fields: object) -> Instance:
        after = {path: text for path, text in (BASE | fix).items() if text is not None}
        fields = {"test_patch": "", "fail_to_pass": (), "pass_to_pass": (), **fields}
        return make_instance(language="rust", gold_patch=diff(BASE, after), **fields)

    return rust


def settled(instance: Instance, path: str, theirs: str | None) -> Settled:
    changes = find_disputed_changes(instance, PLAN, [path])
    return settle_disputes(instance, PLAN, [Disputed(change, BASE.get(change.old or ""), theirs) for change in changes])


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "2.0.0"])
def test_a_version_that_steers_as_the_base_or_the_fix_stays(rust, version):
    own = BASE["Cargo.toml"].replace("1.0.0", version)

    assert settled(rust(FIX), "Cargo.toml", own) == Settled()


def test_the_fixs_own_way_to_steer_stays(rust):
    both = FIX | {"Cargo.toml": EVIL}

    assert settled(rust(both), "Cargo.toml", EVIL.replace("1.0.0", "3.0.0")) == Settled()
    assert settled(rust(both), "Cargo.toml", EVIL.replace("x.rs", "y.rs")).refused


def test_another_way_to_steer_is_replaced_by_the_fixs_version(rust):
    found = settled(rust(FIX), "Cargo.toml", EVIL)

    assert found == Settled(frozenset({"Cargo.toml"}), {"Cargo.toml": FIX["Cargo.toml"]}, (FROM_GOLD,))
    back = put_back(rust(FIX), PLAN, ["Cargo.toml", "src/lib.rs"], refused=found.refused)
    assert back.paths == ("Cargo.toml",)
    assert back.flags == ("runner_configuration_put_back",)


def test_a_removed_file_steers_too(rust):
    assert settled(rust(FIX), "Cargo.toml", None).from_gold == {"Cargo.toml": FIX["Cargo.toml"]}
    removed = settled(rust(FIX | {"build.rs": None}), "build.rs", "fn main() { rewrite() }\n")
    assert removed == Settled(frozenset({"build.rs"}))
    assert settled(rust(FIX | {"build.rs": None}), "build.rs", None) == Settled()


def test_a_fix_of_steering_files_alone_is_never_given(rust):
    instance = rust({"Cargo.toml": EVIL, "tests/a.rs": "", "CHANGES.md": "1.1\n"})

    assert settled(instance, "Cargo.toml", EVIL.replace("x.rs", "y.rs")) == Settled(flags=(FROM_PATCH,))


def test_a_source_of_the_test_patch_that_has_no_tests_name_counts_as_one(rust):
    listing = BASE["Cargo.toml"].replace('"a"', '"a"\ndescription = "check.rs"')

    assert settled(rust(FIX), "Cargo.toml", listing).refused


@pytest.mark.parametrize("path", ["src/lib.rs", "Cargo.lock", "tests/calc.rs"])
def test_other_files_are_not_disputed(rust, path):
    assert find_disputed_changes(rust(FIX), PLAN, [path]) == []


def test_what_the_test_patch_touches_is_not_disputed(rust):
    instance = rust(FIX, test_patch=diff(BASE, BASE | {"Cargo.toml": EVIL}))

    assert find_disputed_changes(instance, PLAN, ["Cargo.toml"]) == []


def test_a_source_of_a_project_that_is_a_runner_is_not_disputed():
    files = {"src/pytest/__init__.py": "a = 1\n", "src/pytest/conftest.py": "a = 1\n"}
    instance = make_instance(gold_patch=diff(files, dict.fromkeys(files, "a = 2\n")), test_patch="")

    assert [each.path for each in find_disputed_changes(instance, PLAN, files)] == ["src/pytest/conftest.py"]


def test_a_fix_that_does_not_fit_the_base_gives_nothing(rust):
    change = next(each for each in read_diff(rust(FIX).gold_patch) if each.path == "Cargo.toml")

    found = settle_disputes(rust(FIX), PLAN, [Disputed(change, "another\n", EVIL)])

    assert found == Settled(frozenset({"Cargo.toml"}))


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("harmless", ["Cargo.toml", "build.rs", ""])
def test_each_dispute_is_settled_by_itself(rust, order, harmless):
    fix = FIX | {"build.rs": "fn main() { }\n"}
    evil = {"Cargo.toml": EVIL, "build.rs": "fn main() { rewrite() }\n"}
    instance = rust(fix)
    disputes = [
        Disputed(change, BASE[change.path], (fix if change.path == harmless else evil)[change.path])
        for change in find_disputed_changes(instance, PLAN, evil)
    ]

    assert settle_disputes(instance, PLAN, disputes[::order]).refused == {*evil} - {harmless}


def test_mention_of_a_restored_file_counts_without_its_folder(rust):
    plan = PLAN.model_copy(update={"restore": ("tests/deep/check.rs",)})
    (change,) = find_disputed_changes(rust(FIX), plan, ["Cargo.toml"])
    listing = BASE["Cargo.toml"].replace('"a"', '"a"\ndescription = "check.rs"')

    assert settle_disputes(rust(FIX), plan, [Disputed(change, BASE["Cargo.toml"], listing)]).refused
