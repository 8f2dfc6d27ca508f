"""Set-up of a repository that no recipe names, as every front door does it."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from assay.harness import languages
from assay.harness.domain import UNKNOWN_TIME, Instance, Recipe
from assay.harness.engines import Engine
from assay.harness.errors import EnvironmentFailure, UserError
from assay.harness.files import hold_lock
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.setup.advice import Advisor
from assay.instances.setup.libraries import MirroredLibrary, find_libraries
from assay.instances.setup.other_trees import find_trees
from assay.instances.setup.project import read_project, read_texts
from assay.instances.setup.project_facts import read_facts
from assay.instances.setup.search import ROUNDS, SECONDS, Search
from assay.instances.setup.setup_record import SetupRecord, load_record, record_path, save_record
from assay.instances.setup.trial import BuiltTrial
from assay.instances.toolchains.images import UserImages, find_toolchain
from assay.instances.toolchains.optional_index import index_answers
from assay.instances.toolchains.versions import load_versions
from assay.instances.trees.sources import Sources, fill_date, tree_ref
from assay.version import __version__

NEAR = timedelta(days=90)  # time between two commits of a repository that take one recipe
BARE: dict[str, str] = {"problem_statement": "", "gold_patch": "", "test_patch": ""}
"""Fields of an instance that a search does not see."""
NO_VERSION = "1.0"  # version for build tools that read it from git tags, where there are none


@dataclass(frozen=True, slots=True)
class Setter:
    """Finds recipes on an engine, and keeps them in a folder."""

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
            UserError: there is no such repository, commit or language.
            EnvironmentFailure: the tree cannot be had. EngineError: the engine failed; the same call resumes.
        """
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
            raise UserError(f"{repo!r} is not the name of a repository; write it as owner/name, such as pallets/flask")
        commit = self.sources.find_commit(repo, at)
        if not commit:
            remedy = "write its full id of 40 hex digits, or give a folder of clones with --mirror"
            raise UserError(f"no local clone of {repo} knows the commit {at!r}; {remedy}")
        named = language and languages.find(language).NAME
        bare = Instance(
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
        with hold_lock(self.folder / f".{bare.id}.lock"):
            return self._search(bare, named, fresh=fresh)

    def find_recipe(self, instance: Instance) -> Recipe | None:
        """Return a recipe for an instance that has none, as ``find_record`` does.

        None if no search found one, or if the instance's tree is no commit. Raises as ``find_record``.
        """
        record = self.find_record(instance) if instance.base_commit else None
        return record.recipe if record and record.accepted else None

    def find_record(self, instance: Instance) -> SetupRecord | None:
        """Return the record of a search near an instance's time, or a new one; raises EngineError. None: no tree."""
        with hold_lock(self.folder / f".{instance.repo.lower().replace('/', '__')}.lock"):
            if record := self._find_near(instance):
                return record
            minutes = f"{self.seconds / 60:.0f} min"
            self.note(f"no recipe names {instance.repo}: searching for one, for at most {minutes}")
            return self._try(instance)

    def _try(self, instance: Instance) -> SetupRecord | None:
        try:
            if instance.archive:
                record = self._search(instance.model_copy(update=BARE), instance.language, fresh=False)
            else:
                record = self.set_up(instance.repo, instance.base_commit, instance.language)
        except EnvironmentFailure as error:
            self.note(f"no set-up of {instance.repo}: {error}")
            return None
        self.note(f"set-up of {instance.repo}: {'accepted' if record.accepted else 'not accepted'}: {record.reason}")
        return record

    def _find_near(self, instance: Instance) -> SetupRecord | None:
        """Return the record of the search nearest in time, if it is near enough; accepted ones first."""
        pattern = record_path(self.folder, instance.language, instance.repo, "*").name
        records = map(load_record, sorted((self.folder / instance.language).glob(pattern)))
        ended = [record for record in records if record is not None and record.ended]
        near = [record for record in ended if abs(record.date - instance.created_at) <= NEAR]
        return min(near, key=lambda each: (not each.accepted, abs(each.date - instance.created_at)), default=None)

    def _search(self, bare: Instance, language: str, *, fresh: bool) -> SetupRecord:
        instance = self._date_instance(bare)
        tree = self.sources.tree(tree_ref(instance))
        project = read_project(instance.repo, tree, instance.created_at, language)
        instance = instance.model_copy(update={"language": project.language})
        commit = instance.archive.sha256 if instance.archive else instance.base_commit
        kept = load_record(record_path(self.folder, project.language, instance.repo, commit))
        if kept is None or fresh:
            kept = SetupRecord(
                repo=instance.repo,
                commit=commit,
                date=instance.created_at,
                language=project.language,
                version=instance.version,
                assay_version=__version__,
            )
        seconds = self.seconds
        if kept.ended:
            if kept.accepted or self.advisor is None or not self.advisor.can_ask(kept.calls):
                return kept
            kept, seconds = kept.reopened(), kept.seconds + self.seconds
        trees = find_trees(project, tree_ref(instance), self.sources)
        index, libraries = index_answers(project.language), dict[str, MirroredLibrary]()
        if index is False:
            libraries |= find_libraries(self.sources, project.language, instance.repo, instance.created_at)
        facts = read_facts(project, self._list_available(project.language), trees, index, libraries)
        trial, save = BuiltTrial(instance, self.builder, self.engine), partial(save_record, self.folder)
        read = partial(read_texts, tree)
        return Search(facts, trial, self.rounds, seconds, self.advisor, read, self.note, save).find(kept)

    def _date_instance(self, bare: Instance) -> Instance:
        """Return a tree with its commit's time and the version of its newest tag; a release has both."""
        if bare.archive:
            return bare
        ref = tree_ref(bare)
        self.sources.tree(ref)  # fetched first: a commit's time is known only once it is here
        version = self.sources.find_version(ref) or NO_VERSION
        return fill_date(bare.model_copy(update={"version": version}), self.sources)

    def _list_available(self, language: str) -> list[str]:
        available = []
        for version in load_versions(language).versions:
            with suppress(EnvironmentFailure):
                find_toolchain(Recipe(language=language, toolchain=version), self.toolchains, self.engine)
                available.append(version)
        return available
