"""SWE-fficiency's rule: the tests still pass, and the workload is faster. Pure.

The benchmark reports the ratio of the patch's speed-up to the gold patch's, and has no threshold. Here a patch is
resolved if its speed-up exceeds every ratio that base may have against itself.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, combinations_with_replacement
from math import exp, log
from statistics import median

from assay.harness.domain import Evidence, Instance, Outcome, Status, TestedTree, WorkloadRun
from assay.harness.reports import lookup
from assay.harness.rulings.doubts import Ruling, find_doubt, judge_without_tests
from assay.harness.rulings.normalise import match_labels
from assay.harness.statistics import CONFIDENCE, Interval

MOST_NOISE = 1.25  # how far apart the ends of the interval of base against base may be, as a ratio
LEAST_SPEED_UP, LEAST_SHARE = 1.2, 0.95  # GSO's: of base's speed, in one digit, and of the gold patch's speed-up
NOT_COMPARED = "workload_result_not_compared"
"""Flag of a verdict on a workload without a result that is the same in each run of the base tree."""
Seconds = Sequence[float]


def ratio(above: Seconds, below: Seconds) -> Interval:
    """Return the ratio of two series that took turns: Hodges and Lehmann's estimate over the rounds' ratios.

    Each round is compared with itself, so that a slow minute of the machine leaves the ratio as it is. The interval
    comes from Wilcoxon's signed-rank test (Annals of Mathematical Statistics 34, 1963).
    """
    logs = [log(over / under) for over, under in zip(above, below, strict=True)]
    means = sorted((one + other) / 2 for one, other in combinations_with_replacement(logs, 2))
    cut = _critical_rank_sum(len(logs))
    return Interval(estimate=exp(median(means)), low=exp(means[cut]), high=exp(means[-1 - cut]))


@cache
def _critical_rank_sum(rounds: int) -> int:
    """Return the largest sum of signed ranks that the test rejects at one end; 0 if it rejects none."""
    ways = [1]  # in which the ranks so far can have each sum
    for rank in range(1, rounds + 1):
        ways = [a + b for a, b in zip(ways + [0] * rank, [0] * rank + ways, strict=True)]
    unlikely = (1 << rounds) * (1 - CONFIDENCE) / 2
    return max(0, sum(total <= unlikely for total in accumulate(ways)) - 1)


def judge(instance: Instance, evidence: Evidence) -> Ruling:
    """Judge the tests, then the speed; a useless measurement is an infrastructure failure, not the patch's."""
    early = judge_without_tests(evidence)
    if early is not None:
        return Ruling(*early)
    tests = match_labels(instance, evidence.report.tests)
    broken = tuple(test for test in instance.pass_to_pass if lookup(test, tests) != {Status.PASSED})
    unfixed = tuple(test for test in instance.fail_to_pass if lookup(test, tests) != {Status.PASSED})
    if broken or unfixed:
        wrong = f"{len(broken) + len(unfixed)} of {len(instance.pass_to_pass) + len(instance.fail_to_pass)}"
        return Ruling(Outcome.UNRESOLVED, f"{wrong} tests do not pass; its speed does not count", unfixed, broken)
    outcome, reason = find_doubt(instance, evidence) or _judge_runs(evidence.workload)
    runs = evidence.workload
    counts = _is_complete(runs) and outcome is not Outcome.INFRA_ERROR and _check_results(runs) is None
    not_compared = _is_complete(runs) and not _find_steady_results(runs)
    return Ruling(outcome, reason, measures=_measure(runs) if counts else {}, flags=(NOT_COMPARED,) * not_compared)


def judge_beside_gold(instance: Instance, evidence: Evidence) -> Ruling:
    """Judge as ``judge`` does, and ask for GSO's thresholds: a speed-up, and nearly that of the gold patch."""
    ruling = judge(instance, evidence)
    if ruling.outcome is not Outcome.RESOLVED:
        return ruling
    speed, share = ruling.measures["speed_up"], ruling.measures["speed_up_ratio"]
    if round(speed, 1) >= LEAST_SPEED_UP and share > LEAST_SHARE:
        return ruling
    wanted = f"{LEAST_SPEED_UP} times base's speed and {LEAST_SHARE} of gold's are asked for"
    return ruling._replace(outcome=Outcome.UNRESOLVED, reason=f"{ruling.reason}; {wanted}")


Runs = Mapping[TestedTree, Sequence[WorkloadRun]]


def _is_complete(runs: Runs) -> bool:
    lengths = {len(each) for each in runs.values()}
    return bool(runs) and len(lengths) == 1 and not any(run.problem for each in runs.values() for run in each)


def _judge_runs(runs: Runs) -> tuple[Outcome, str]:
    if not runs:
        return Outcome.INFRA_ERROR, "the workload was not timed"
    found = _check_problems(runs) or _check_results(runs) or _check_noise(runs) or _check_speed(runs)
    if found:
        return found
    speed, gold = (_put_in_words(_speed_up(runs, tree)) for tree in (TestedTree.CANDIDATE, TestedTree.GOLD))
    return Outcome.RESOLVED, f"{speed} as fast; the gold patch {gold}"


def _check_problems(runs: Runs) -> tuple[Outcome, str] | None:
    problems = {tree: run for tree, each in runs.items() for run in each if run.problem}
    for tree, run in problems.items():
        if tree is not TestedTree.CANDIDATE:
            return Outcome.INFRA_ERROR, f"the workload cannot be timed on the {tree} tree: {run.problem}"
    if own := problems.get(TestedTree.CANDIDATE):
        outcome = Outcome.TAMPERED if own.forged else Outcome.UNRESOLVED
        return outcome, f"the workload does not run with the patch: {own.problem}"
    return None


def _check_results(runs: Runs) -> tuple[Outcome, str] | None:
    """Compare what the workload computes, where it is the same in each run of the base tree and of the gold patch."""
    expected = _find_steady_results(runs)
    own = [run.results for run in runs[TestedTree.CANDIDATE]]
    differing = {name for name, value in expected.items() if any(each.get(name) != value for each in own)}
    if differing:
        return Outcome.UNRESOLVED, f"the workload computes something else: {', '.join(sorted(differing))}"[:500]
    return None


def _find_steady_results(runs: Runs) -> dict[str, str]:
    known = [run.results for tree, each in runs.items() if tree is not TestedTree.CANDIDATE for run in each]
    return {name: value for name, value in known[0].items() if all(each.get(name) == value for each in known)}


def _check_noise(runs: Runs) -> tuple[Outcome, str] | None:
    reason = find_noise(runs)
    if not reason and (why := _explain_no_speed_up(runs, TestedTree.GOLD)):
        reason = f"the gold patch is {why}"
    return (Outcome.INFRA_ERROR, f"the measurement is not usable: {reason}") if reason else None


def find_noise(runs: Runs) -> str:
    """Return how the base tree differs from itself; empty if it does not."""
    same = _compare_base_with_itself(runs)
    if same.high / same.low > MOST_NOISE or not same.low <= 1 <= same.high:
        return f"the base tree is {_put_in_words(same)} as fast as itself; try again on a quiet machine"
    return ""


def _compare_base_with_itself(runs: Runs) -> Interval:
    return ratio(_seconds(runs, TestedTree.BASE), _seconds(runs, TestedTree.BASE_AGAIN))


def _explain_no_speed_up(runs: Runs, tree: TestedTree) -> str:
    """Return why the times of a tree show no speed-up; empty if they show one."""
    same, speed = _compare_base_with_itself(runs), _speed_up(runs, tree)
    chance = max(same.high, 1 / same.low)
    if speed.low > chance:
        return ""
    return f"{_put_in_words(speed)} as fast, which shows no speed-up: base may be {chance:.2f} times as fast as itself"


def _check_speed(runs: Runs) -> tuple[Outcome, str] | None:
    if why := _explain_no_speed_up(runs, TestedTree.CANDIDATE):
        return Outcome.UNRESOLVED, why
    base, candidate = ([run.outside for run in runs[tree]] for tree in (TestedTree.BASE, TestedTree.CANDIDATE))
    saved = median(_seconds(runs, TestedTree.BASE)) - median(_seconds(runs, TestedTree.CANDIDATE))
    spent = median(candidate) - median(base)
    if spent > saved / 2 and ratio(candidate, base).low > 1:
        return Outcome.UNRESOLVED, f"the workload saves {saved:.3g} s, and {spent:.3g} s more are spent around it"
    return None


def _seconds(runs: Runs, tree: TestedTree) -> Seconds:
    return [max(run.seconds, 1e-9) for run in runs[tree]]


def _speed_up(runs: Runs, tree: TestedTree) -> Interval:
    """Return how many times as fast a tree is as the base tree, which is run twice in each round."""
    both = zip(_seconds(runs, TestedTree.BASE), _seconds(runs, TestedTree.BASE_AGAIN), strict=True)
    return ratio([(first + second) / 2 for first, second in both], _seconds(runs, tree))


def _put_in_words(found: Interval) -> str:
    return f"{found.estimate:.2f} times ({found.low:.2f} to {found.high:.2f})"


def _measure(runs: Runs) -> dict[str, float]:
    speed, gold = _speed_up(runs, TestedTree.CANDIDATE), _speed_up(runs, TestedTree.GOLD)
    named = {
        "speed_up": speed.estimate,
        "speed_up_low": speed.low,
        "speed_up_high": speed.high,
        "gold_speed_up": gold.estimate,
        "speed_up_ratio": speed.estimate / gold.estimate,
    }
    return {name: round(value, 4) for name, value in named.items()}
