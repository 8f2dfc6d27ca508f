"""Outcomes and flags in words for a person; ``docs/outcomes.md`` says the same, and a test compares."""

from collections.abc import Mapping

from assay.harness.domain import Outcome

OUTCOMES: Mapping[str, str] = {
    Outcome.RESOLVED: "Every expected test passes.",
    Outcome.UNRESOLVED: "The tests ran, and some that should pass do not.",
    Outcome.EMPTY_PATCH: "There is nothing to apply.",
    Outcome.PATCH_REJECTED: "The patch is not a usable diff, or reaches outside the tree.",
    Outcome.PATCH_CONFLICT: "The patch does not apply to the base commit.",
    Outcome.NOT_RUN: "There is no test result, or an exit status that the results do not explain.",
    Outcome.TIMED_OUT: "The time limit ended the tests.",
    Outcome.OUT_OF_MEMORY: "The memory limit ended the tests.",
    Outcome.OUTPUT_LIMIT: "The limit of output or disk ended the tests.",
    Outcome.TAMPERED: "Exit status and results contradict each other, or tripwire tests do not behave.",
    Outcome.ENV_ERROR: (
        "The instance's environment could not be built, or nothing passes in it, with the gold patch either. "
        "This is not the patch's fault."
    ),
    Outcome.INFRA_ERROR: "The engine or the disk failed. This is not the patch's fault; the next run tries again.",
}

FLAGS: Mapping[str, str] = {
    "runner_configuration_put_back": "The patch touched files that steer the test runner; they were put back.",
    "runner_configuration_from_gold": (
        "Fix and patch changed the same file that steers the runner, and the patch's version steers the tests "
        "in a way of its own: the run used the fix's."
    ),
    "runner_configuration_from_patch": (
        "Fix and patch changed the same file that steers the runner, and the fix consists of such files alone: the run "
        "used the patch's."
    ),
    "files_named_like_tests_left_out": (
        "New files outside of the folders of tests look like tests by their names; they were not kept. A new "
        "source of such a name stays if the patch's other sources name it, no test that is run has its name, "
        "and its own tests cannot be taken for expected ones."
    ),
    "files_that_are_no_tests_left_out": "A patch of tests changed other files too; they were not applied.",
    "build_products_left_out": "The patch brought build products along; they were not applied.",
    "stray_files_left_out": (
        "The patch brought symbolic links, submodules or binary files along, and the fix has none like them; they were "
        "not applied."
    ),
    "applied_with_fuzz": (
        "Git refuses the patch, and patch --fuzz=5 applies it, as the benchmark's own harness does; the tests ran on "
        "what that left. --strict makes it patch_conflict."
    ),
    "workload_result_not_compared": (
        "The workload computes nothing that is the same in each run of the base tree and of the gold patch: nothing "
        "shows that what it computes with the patch is right."
    ),
    "packages_missing": (
        "The patch changes which packages the project asks for, and the output says that one is not there: the tests "
        "have no network, only the packages of the base commit and of the fix."
    ),
    "tests_ran_as_root": (
        "The tests ran as root, in a row's own image that could not be handed over to another user; --strict "
        "makes it not_run."
    ),
    "read_from_log": (
        "Results were read from the log, since there is nothing else, or the row's script starts a runner that is not "
        "known; --strict makes it not_run."
    ),
    "log_alone": "Nothing ran here, no tree was checked: the log was made elsewhere, maybe for another patch.",
    "no_fail_to_pass": (
        "The row names no test that the patch has to fix, so nothing shows a fix; its benchmark's rule asks for none. "
        "--strict makes it not_run."
    ),
    "fail_fast": "A fail-to-pass test failed, so no other tests were run: what they do is not known.",
    "fail_fast_not_used": (
        "All tests were run at once in spite of --fail-fast, since the fail-to-pass tests cannot be run alone, or the "
        "gold patch does not pass them so."
    ),
    "no_tripwires": "No tripwires ran beside the tests: nothing is known of how the runner reports failures.",
    "no_counter_test": "Some tests to be fixed have no counter-test; the evidence says why.",
    "vacuous": "Some tests to be fixed pass with the gold patch whatever they expect.",
    "compile_only": "Some tests to be fixed pass where the gold patch's functions have no bodies.",
    "no_value_asserted": "Some counter-tests expect the opposite of a condition, and no other value.",
    "counter_not_beside": "Some known counter-tests cannot run beside their originals; --counter pair runs them.",
    "counter_unconfirmed": (
        "A counter-test passed once and not again, or did not run; or a test without its answer did so."
    ),
    "not_sealed": "Some tests to be fixed were not run without their answers, or their values cannot be compared.",
    "report_and_log_disagree": (
        "The report file and the output disagree about a test; if the report is the better one for an expected "
        "test, the outcome is tampered."
    ),
    "child_out_of_memory": "The kernel killed a process for lack of memory, but not the test command.",
    "process_limit_hit": "The kernel refused to start a process.",
    "pass_to_pass_tests_skipped": (
        "A pass-to-pass test was skipped or failed as expected: not broken by the rule, but not seen to pass either."
    ),
    "quarantined_tests_left_out": (
        "Some expected tests have different results in different runs; the reason says how many."
    ),
    "service:": "A program ran beside the tests, on a network that leads nowhere else.",
    "network": "The recipe gives its tests network access, a capability, or another time.",
    "capability:": "The recipe gives its tests network access, a capability, or another time.",
    "faketime": "The recipe gives its tests network access, a capability, or another time.",
    "not_enforced:": "The engine cannot enforce this limit on that machine; the tests ran without it.",
    "flaky": "Tests that failed passed when they were run again; the outcome stays.",
    "labels_without_a_test_left_out": "Some labels name no test (progress marks that an old parser took for tests).",
}
"""Keys are flags, or their beginnings up to the colon."""


def get_meaning(flag: str) -> str:
    begin, colon, _ = flag.partition(":")
    return FLAGS.get(begin + colon, "")
