import shlex

import pytest

from assay.harness.domain import PublishedImage, Recipe, Service
from assay.harness.evaluation.supervising import PIPE
from assay.harness.runners.base import PLACEHOLDER
from assay.instances.environments import plan as plans
from toy import make_instance

SPACED = """\
diff --git a/tests/test a b.py b/tests/test a b.py
--- a/tests/test a b.py
+++ b/tests/test a b.py
@@ -1 +1 @@
-x
+y
diff --git a/tests/data.json b/tests/data.json
--- a/tests/data.json
+++ b/tests/data.json
@@ -1 +1 @@
-1
+2
"""


def test_the_patchs_test_files_are_run_and_all_its_files_restored():
    plan = plans.make_plan(make_instance(test_patch=SPACED), Recipe())

    words = shlex.split(plan.command)
    assert words[words.index("set") + 2] == "tests/test a b.py"
    assert words[-1] == "$@"
    assert PLACEHOLDER in words
    assert (plan.runner, plan.targets) == ("pytest", ("tests/test a b.py",))
    assert "tests/data.json" not in words
    assert f"--junitxml={PIPE}" in words
    assert plan.restore == ("tests/test a b.py", "tests/data.json")
    assert plan.test_patch == SPACED
    assert plan.report_path == PIPE


def test_a_recipes_own_command_is_used(instance):
    recipe = Recipe(test_files="all", test_command="make check", log_format="sympy_text", test_id="function")

    plan = plans.make_plan(instance, recipe)

    assert (plan.command, plan.report_path) == ("make check\n", "")
    assert (plan.log_format, plan.test_id) == ("sympy_text", "function")


@pytest.mark.parametrize(
    ("runner", "command", "chosen", "sure", "tripwires"),
    [
        ("cargo", "ASSAY_REPORT={report} exec cargo test --test it", ("--test=it",), True, True),
        ("cargo", "cargo test --lib && cargo test --test it", (), False, True),
        ("cargo", "cargo test name", (), True, False),
        ("cargo", "make check", (), True, True),
        ("mocha", "ASSAY_TRIPWIRES={tripwires} exec node_modules/.bin/mocha test/", (), True, True),
        ("mocha", "exec node_modules/.bin/mocha test/", (), False, True),
        ("pytest", "cd x\nexec pytest --junitxml={report} {files} {tripwires}", (), True, True),
        ("pytest", "pytest 'unclosed", (), True, True),
        ("", "cargo test --lib", (), True, True),
    ],
)
def test_a_recipes_own_command_says_where_tripwires_run(instance, runner, command, chosen, sure, tripwires):
    plan = plans.make_plan(instance, Recipe(test_files="all", runner=runner, test_command=command))

    assert (plan.chosen, plan.sure, plan.tripwires) == (chosen, sure, tripwires)


def test_environment_variables_are_fixed_unless_the_recipe_sets_them(instance):
    plan = plans.make_plan(instance, Recipe(env={"TZ": "Asia/Tokyo", "X": "1"}))

    assert plan.env == {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "X": "1"}


def test_limits_come_from_the_recipe_without_network_by_default(instance):
    limits = plans.make_plan(instance, Recipe(timeout=60, memory_mb=512)).limits

    assert (limits.seconds, limits.memory_mb, limits.network) == (60.0, 512, False)
    assert plans.make_plan(instance, Recipe(network=True)).limits.network


SCRIPT = """\
source /opt/env/bin/activate
cd /repo
pip install -e .
make ext
git checkout abc tests/test_calc.py
git apply - <<'EOF'
+ anything
EOF
: '>>>>> Start Test Output'
{tests}
: '>>>>> End Test Output'
git checkout abc tests/test_calc.py
"""


def published(tests):
    environment = PublishedImage(image="somewhere/acme:1", eval_script=SCRIPT.format(tests=tests))
    return make_instance(environment=environment, test_patch=SPACED, log_format="django")


@pytest.mark.parametrize("recipe", [Recipe(), Recipe(test_command="never run")])
def test_published_image_runs_a_known_runner_with_report_and_tripwires(recipe):
    instance = published("(A='b c' pytest tests/test_calc.py) | cat")
    plan = plans.make_plan(instance, recipe)

    *prepare, command = plan.command.splitlines()
    assert prepare == ["source /opt/env/bin/activate", "cd /repo", "make ext", "export A='b c'"]
    assert command.startswith("exec pytest tests/test_calc.py ")
    assert f"--junitxml={plan.report_path} " in command
    assert command.endswith(" {tripwires}")
    assert (plan.runner, plan.report_format, plan.log_format) == ("pytest", "junit_xml", "django")
    assert (plan.user, plan.workdir, plan.targets) == ("assay", "/repo", ("tests/test_calc.py",))


def test_folder_that_a_script_enters_is_where_its_targets_are():
    plans_of = [
        plans.make_plan(published(f"{enters}pytest tests -x --ignore=a"), Recipe()) for enters in ("", "cd sub && ")
    ]

    assert [(plan.folder, plan.sure, plan.tripwires) for plan in plans_of] == [("", False, True), ("sub", False, True)]


def test_published_image_has_its_tests_delivered_by_the_harness():
    instance = published("pytest tests/test_calc.py")
    own, plan = (plans.make_plan(each, Recipe()) for each in (make_instance(test_patch=SPACED), instance))

    assert (plan.restore, plan.test_patch) == (own.restore, own.test_patch)
    assert "git" not in plan.command + plan.install
    assert plan.install.splitlines() == ["source /opt/env/bin/activate", "cd /repo", "pip install -e ."]
    assert plan.env == {**own.env, **plans.OFFLINE}


@pytest.mark.parametrize(
    "tests", ["./run.sh --all", "pytest a.py; pytest b.py", "pytest $(cat list)", "pytest a.py | tail"]
)
def test_published_image_with_an_unknown_runner_is_read_from_its_log(tests):
    plan = plans.make_plan(published(tests), Recipe())

    assert plan.command.splitlines()[-1] == tests
    assert (plan.runner, plan.report_format, plan.report_path) == ("", "", "")


def test_published_image_puts_back_the_files_that_its_script_runs():
    plan = plans.make_plan(published("bash tools/ci.sh && ./bin/test -C x"), Recipe())

    assert plan.runs == ("tools/ci.sh", "bin/test")


def test_services_and_faketime_are_in_the_plan():
    service = Service(name="web", command="serve", port=80)
    plan = plans.make_plan(make_instance(), Recipe(services=(service,), faketime="2014-05-01 00:00:00"))

    assert plan.services == (service,)
    assert plan.env["FAKETIME"] == "@2014-05-01 00:00:00"
    assert plan.env["LD_PRELOAD"].endswith("/libfaketime.so.1")
    assert "LD_PRELOAD" not in plans.make_plan(make_instance(), Recipe()).env


def test_other_test_files_are_run_by_the_same_command_with_the_same_files_restored():
    instance = make_instance(test_patch=SPACED)
    plan = plans.make_plan(instance, Recipe(), ["tests/test_other.py", "tests/a b.py"])
    assert "tests/test_other.py 'tests/a b.py'" in plan.command
    assert plan.restore == plans.make_plan(instance, Recipe()).restore
