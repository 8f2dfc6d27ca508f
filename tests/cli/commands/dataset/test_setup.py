"""``assay dataset setup`` as a person calls it: what needs no container."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.domain import Instance, Recipe, Status
from assay.instances.setup.keeper import Setter
from assay.instances.setup.setup_record import AppliedChange, SetupRecord, SetupRound, save_record
from assay.instances.setup.trial import TriedRecipe
from assay.jobs.workplace import Workplace
from played_endpoint import Reply, played_endpoint, said


@pytest.fixture
def commit(in_folder: Path) -> str:
    """A clone with one commit, whose id this is."""
    folder = in_folder / "mirrors/acme/calc"
    folder.mkdir(parents=True)
    (folder / "setup.py").write_text("setup()")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for args in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "one"], ["tag", "v1.2"]):
        subprocess.run(["git", *who, "-C", str(folder), *args], check=True)
    head = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    return head.stdout.strip()


@pytest.fixture
def searched(commit: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the search end as a test says; everything before and after it is real."""

    def end(*, accepted: bool) -> None:
        recipe = Recipe(repo="acme/calc", packages=("pytest", "mock"))
        change = AppliedChange(rule="missing-module", reason="the module mock is missing")
        rounds = (SetupRound(recipe=recipe, passed=1, failed=2, changes=(change,)), SetupRound(recipe=recipe, passed=3))

        def search(self: Setter, bare, language: str, *, fresh: bool) -> SetupRecord:
            assert not language
            assert not fresh
            dated = self._date_instance(bare)
            assert (dated.base_commit, dated.version) == (commit, "1.2")
            record = SetupRecord(
                repo=dated.repo, commit=dated.base_commit, date=dated.created_at, language="python", ended=True,
                accepted=accepted, reason="because", recipe=recipe, attempts=rounds,
            )  # fmt: skip
            save_record(self.folder, record)
            return record

        def setter(self: Workplace, folder: Path) -> Setter:
            from assay.jobs.workbench import make_sources

            return Setter(None, make_sources([Path("mirrors")]), None, folder, {})  # type: ignore[arg-type]

        monkeypatch.setattr(Setter, "_search", search)
        monkeypatch.setattr(Workplace, "setter", setter)

    return end


def test_an_accepted_recipe_is_written_and_shown(assay: Callable, searched: Callable, commit: str) -> None:
    searched(accepted=True)
    done = assay("dataset", "setup", "acme/calc", "--at", "v1.2", "--mirror", "mirrors", "-o", "mine")
    assert done.code == 0, done.err
    assert "1 of 3 tests pass" in done.out
    assert "missing-module: the module mock is missing" in done.out
    assert f"acme/calc at {commit[:12]}" in done.out
    assert "Recipe: mine/python/acme__calc.yaml" in done.out
    assert Path("mine/python/acme__calc.yaml").is_file()


def test_without_a_recipe_it_is_exit_4_and_says_where_the_attempts_are(assay: Callable, searched: Callable) -> None:
    searched(accepted=False)
    done = assay("dataset", "setup", "acme/calc", "--mirror", "mirrors", "--json")
    assert done.code == 4
    assert (done.json["accepted"], done.json["recipe_file"]) == (False, "")
    assert Path(done.json["attempts_file"]).is_file()


@pytest.fixture
def play_answers(commit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests pass with the package that the model adds, and with the project's sources; the rest is real."""

    class PlayedTrial:
        def __init__(self, instance: Instance, *_: object) -> None:
            assert (instance.base_commit, instance.test_patch, instance.fail_to_pass) == (commit, "", ())

        def run(self, recipe: Recipe, _seconds: float, patch: str = "") -> TriedRecipe:
            passes = "special" in recipe.packages and not patch
            return TriedRecipe(output="strange", tests={"a": Status.PASSED if passes else Status.FAILED})

    def setter(self: Workplace, folder: Path) -> Setter:
        from assay.jobs.workbench import make_sources

        return Setter(None, make_sources([Path("mirrors")]), None, folder, {}, note=self.view.say)  # type: ignore[arg-type]

    monkeypatch.setattr("assay.instances.setup.keeper.BuiltTrial", PlayedTrial)
    monkeypatch.setattr(Setter, "_list_available", lambda _self, _language: ["3.11"])
    monkeypatch.setattr(Workplace, "setter", setter)


ASK = ("dataset", "setup", "acme/calc", "--mirror", "mirrors", "-o", "mine")


def test_a_model_goes_on_where_the_rules_ended_and_is_not_paid_twice(assay: Callable, play_answers: None) -> None:
    ended = assay(*ASK)
    assert ended.code == 4
    assert "no rule knows more" in ended.out
    look, change = (
        "```yaml\nfiles: [setup.py]\n```",
        "```yaml\nwhy: it is special\nrecipe: {packages: [pytest, special]}\n```",
    )
    with played_endpoint() as endpoint:
        endpoint.plays(said("no"), said(look), said(change))
        model = (*ASK, "--model", "m", "--base-url", endpoint.url)
        short = assay(*model, "--calls", "2")
        assert (short.code, len(endpoint.asked)) == (4, 2)
        assert "model m: the budget of 2 calls leaves no room for another call" in short.out
        assert "round" not in assay(*model, "--calls", "2").err  # nothing is left, so nothing is tried
        done = assay(*model)
        assert (done.code, len(endpoint.asked)) == (0, 3), done.err
        assert "setup()" in endpoint.asked[2].body["messages"][0]["content"]
    assert "model m, answer 3 of 12: packages: it is special" in done.err
    assert "3 answers of a model, 330 tokens" in done.out
    assert "# model m: packages: it is special\n" in Path("mine/python/acme__calc.yaml").read_text()
    shown = assay(*ASK, "--json").json
    assert [call["result"] for each in shown["attempts"] for call in each["calls"]] == [
        "cannot be used: the answer has no ```yaml block; write one",
        "asks for setup.py",
        "packages: it is special",
    ]
    assert len(Path("mine/acme__calc.llm.jsonl").read_text().splitlines()) == 3


def test_a_model_that_cannot_be_asked_is_a_reason_and_no_error(assay: Callable, play_answers: None) -> None:
    with played_endpoint() as endpoint:
        endpoint.plays(Reply(401, "who are you?"))
        done = assay(*ASK, "--model", "m", "--base-url", endpoint.url)
    assert done.code == 4
    assert "no rule knows more; model m: no answer: " in done.out
    assert "who are you?" in done.out
    assay(*ASK, "--model", "m", "--base-url", endpoint.url, "--cost", "1").refuses("the price of m is not known")


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["calc"], "'calc' is not the name of a repository; write it as owner/name"),
        (["acme/calc", "--at", "v9"], "no local clone of acme/calc knows the commit 'v9'; write its full id of 40 hex"),
        (["acme/calc", "--at=--all"], "knows the commit '--all'"),
        (["acme/calc", "--language", "cobol"], "cobol"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(assay: Callable, searched: Callable, args: list[str], said: str) -> None:
    searched(accepted=True)
    assay("dataset", "setup", *args, "--mirror", "mirrors").refuses(said)


def test_an_engine_that_builds_nothing_is_refused(assay: Callable) -> None:
    assay("dataset", "setup", "acme/calc").refuses("the engine fake builds nothing; set-up needs one that does")
