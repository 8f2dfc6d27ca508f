"""Set-up of a repository that no recipe names, as every front door does it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assay.harness import languages
from assay.harness.domain import UNKNOWN_TIME, Instance, Recipe
from assay.harness.engines import Engine
from assay.harness.errors import EnvironmentFailure, UserError
from assay.instances.environments.build import ImageBuilder
from assay.instances.environments.setup.facts import read_facts
from assay.instances.environments.setup.project import read_project
from assay.instances.environments.setup.record import SetupRecord, load_record, record_path, save_record
from assay.instances.environments.setup.search import ROUNDS, SECONDS, Advisor, Search
from assay.instances.environments.setup.trial import BuiltTrial
from assay.instances.toolchains.images import UserImages, find_toolchain
from assay.instances.toolchains.versions import versions_of
from assay.instances.trees.sources import Sources, dated, tree_ref
from assay.version import __version__

NO_VERSION = "1.0"
"""Reported to build tools that read the version from git tags, where there are none."""


@dataclass(frozen=True, slots=True)
class Setter:
    """Finds recipes on an engine, and keeps what it found in a folder."""

    engine: Engine
    sources: Sources
    builder: ImageBuilder
    folder: Path
    """Folder of recipes: recipe and record of each repository."""
    toolchains: UserImages
    rounds: int = ROUNDS
    seconds: float = SECONDS
    advisor: Advisor | None = None
    note: Callable[[str], None] = lambda _text: None

    def set_up(self, repo: str, at: str, language: str = "", *, fresh: bool = False) -> SetupRecord:
        """Search for the recipe of a repository at a commit, or resume a search, or return the record of one.

        Args:
            repo: ``owner/name``.
            at: the commit: a full id, or any name for it that a local clone knows.
            language: of the project; empty to find it out.
            fresh: forget an earlier search.

        Raises:
            UserError: there is no such commit or language.
            EnvironmentFailure: the tree cannot be had. EngineError: the engine failed; the same call resumes.
        """
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
            raise UserError(f"{repo!r} is not the name of a repository; write it as owner/name, such as pallets/flask")
        instance = self._instance(repo, at)
        project = read_project(
            repo, self.sources.tree(tree_ref(instance)), instance.created_at, language and languages.find(language).NAME
        )
        facts = read_facts(project, self._available(project.language))
        instance = instance.model_copy(update={"language": project.language})
        start = SetupRecord(
            repo=repo,
            commit=instance.base_commit,
            date=instance.created_at,
            language=project.language,
            version=instance.version,
            assay_version=__version__,
        )
        kept = load_record(record_path(self.folder, project.language, repo, instance.base_commit))
        record = start if fresh or kept is None else kept
        if record.ended:
            return record
        trial = BuiltTrial(instance, self.builder, self.engine)
        return Search(facts, trial, self.rounds, self.seconds, self.advisor, self.note, self._save).find(record)

    def _save(self, record: SetupRecord) -> None:
        save_record(self.folder, record)

    def _instance(self, repo: str, at: str) -> Instance:
        """Return the tree as an instance without patches, dated by its commit."""
        commit = self.sources.commit_of(repo, at)
        if not commit:
            raise UserError(
                f"no local clone of {repo} knows the commit {at!r}; write its full id of 40 hex digits,"
                " or give a folder of clones with --mirror"
            )
        instance = Instance(
            id=re.sub(r"[^A-Za-z0-9_.-]", "-", f"{repo.replace('/', '__')}-{commit[:12]}")[:128],
            repo=repo,
            base_commit=commit,
            problem_statement="",
            gold_patch="",
            test_patch="",
            fail_to_pass=(),
            pass_to_pass=(),
            created_at=UNKNOWN_TIME,
        )
        self.sources.tree(tree_ref(instance))  # fetched first: a commit's time is known only once it is here
        found = re.search(r"\d+(?:\.\d+)+(?:(?:a|b|rc|\.post|\.dev)\d+)?", self.sources.nearest_tag(tree_ref(instance)))
        return dated(instance.model_copy(update={"version": found[0] if found else NO_VERSION}), self.sources)

    def _available(self, language: str) -> list[str]:
        """Return the versions of a language that there are toolchains for."""
        return [version for version in versions_of(language).versions if self._can_be_had(language, version)]

    def _can_be_had(self, language: str, version: str) -> bool:
        try:
            find_toolchain(Recipe(language=language, toolchain=version), self.toolchains, self.engine)
        except EnvironmentFailure:
            return False
        return True
