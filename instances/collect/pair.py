"""Makes an instance of a change: base commit, code and test parts, statement."""

from collections.abc import Mapping
from functools import partial

from assay.harness import languages
from assay.harness.domain import Instance, Origin, TreeRef
from assay.harness.errors import DataError, EnvironmentFailure
from assay.harness.patches.diff import MalformedPatchError, find_touched_paths
from assay.instances.collect.messages import statement
from assay.instances.collect.steps import Change, Found, Paired
from assay.instances.setup.project import detect_language
from assay.instances.trees.content import SUBMODULE
from assay.instances.trees.diff import part_source, split_diff
from assay.instances.trees.sources import Sources

NOT_HERE = "not here"  # the rule of candidates whose tree could not be had; a later call tries again
MANY = 300  # files from which on a change is no fix of one issue, and is not looked at
Issues = Mapping[tuple[str, int], str]
"""Text of issues by the repository's lower-case name and the issue's number."""


def pair(found: Found, sources: Sources, issues: Issues) -> Paired:
    """Return the line of a change: its two patches and its statement, or why there is no instance in it."""
    change = found.change
    assert change is not None
    try:
        old, new = sources.differing(TreeRef(change.repo, change.base), TreeRef(change.repo, change.commit))
        if any(entry.mode == SUBMODULE for entry in (*old, *new)):
            return Paired(id=found.id, rule="submodule", reason="it changes a submodule")
        if len(new) > MANY:
            return Paired(id=found.id, rule="many files", reason=f"it changes {len(new)} files")
        language = detect_language(sources.paths(TreeRef(change.repo, change.base)))
        known = languages.find(language)
        gold, test = split_diff(old, new, known.is_test_file, partial(part_source, known.LINES))
        text, origin = _statement(change, issues, find_touched_paths(gold + test))
    except DataError:
        return Paired(id=found.id, rule="not text", reason="git cannot write its change as UTF-8 text")
    except MalformedPatchError as error:
        return Paired(id=found.id, rule="broken patch", reason=str(error))
    except EnvironmentFailure as error:
        return Paired(id=found.id, rule=NOT_HERE, reason=str(error))
    columns = {
        "commit": f'"{change.commit}"',
        "pull_number": str(change.number),
        "issue_numbers": f"[{', '.join(map(str, change.issues))}]",
        "statement_from": f'"{origin}"',
    }
    instance = Instance(
        id=found.id,
        repo=change.repo,
        base_commit=change.base,
        language=language,
        problem_statement=text,
        gold_patch=gold,
        test_patch=test,
        fail_to_pass=(),
        pass_to_pass=(),
        created_at=change.date,
        version=sources.find_version(TreeRef(change.repo, change.base)),
        origin=Origin(dialect="collect", columns=tuple(columns.items())),
    )
    return Paired(id=found.id, instance=instance, statement_from=origin)


def _statement(change: Change, issues: Issues, paths: tuple[str, ...]) -> tuple[str, str]:
    known = [issues[key] for number in change.issues if (key := (change.repo.lower(), number)) in issues]
    if known:
        return "\n\n".join(known), "issue"
    return statement(change.message, change.merged, paths), "message"
