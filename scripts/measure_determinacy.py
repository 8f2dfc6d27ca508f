"""Hold the audit's `undetermined` against the published receipts of kimjune01/swebench-pro-audit, for the docs.

    python scripts/measure_determinacy.py AUDIT --mirror DIR... [--list]

AUDIT is a clone of that repository, with a work tree or without. Its cases hold statement, gold patch, tests and the
commit of the fix, whose parent is the base; rows whose repository is in no mirror are left out. `--list` prints the
receipts, to be read.
"""

import argparse
import io
import json
import re
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from assay.harness.domain import UNKNOWN_TIME, Instance
from assay.harness.errors import EnvironmentFailure
from assay.harness.statistics import wilson
from assay.instances.audit import AuditFinding, AuditKind, Severity, audit
from assay.instances.dataset.formats.languages import find_language
from assay.instances.trees.search import open_tree
from assay.instances.trees.sources import Sources, find_mirror

SOUND = frozenset({"ENTAILED", "DETERMINED-codebase"})
PENDING = frozenset({"hypothesis", "(pending)", "determined"})
"""Classes that the audit itself leaves open."""


def read_cases(audit_dir: Path, mirrors: list[Path]) -> Iterator[tuple[str, Instance]]:
    """Yield the class and the instance of each case whose base commit is in a mirror."""
    archive = subprocess.run(["git", "-C", audit_dir, "archive", "HEAD"], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        files = {each.name: tar.extractfile(each) for each in tar if each.isfile()}
        texts = {name: content.read().decode() for name, content in files.items() if content}
    prose = json.loads(texts["data/pro_repl_fields.json"])
    for line in texts["COVERAGE.md"].splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        folder = f"data/cases/{cells[1]}" if len(cells) > 6 else ""
        name = texts.get(f"{folder}/instance_id.txt", "").strip()
        found = re.match(r"instance_(.+?)__(.+?)-([0-9a-f]{40})", name)
        if found is None or name not in prose:
            continue
        repo = f"{found[1]}/{found[2]}"
        base = find_parent(mirrors, repo, found[3])
        gold, tests = texts[f"{folder}/gold.diff"], texts[f"{folder}/hidden_test.diff"]
        if base:
            parts = (prose[name][part] for part in ("problem_statement", "requirements", "interface"))
            yield (
                cells[5] or cells[2],
                Instance(
                    id=name,
                    repo=repo,
                    base_commit=base,
                    language=find_language({"repo": repo}, gold, tests),
                    gold_patch=gold,
                    test_patch=tests,
                    fail_to_pass=tuple(texts[f"{folder}/fail_to_pass.txt"].split("\n")),
                    pass_to_pass=(),
                    created_at=UNKNOWN_TIME,
                    problem_statement="\n\n".join(json.loads(part) if part[:1] == '"' else part for part in parts),
                ),
            )


def find_parent(mirrors: list[Path], repo: str, commit: str) -> str:
    for git_dir in (found for mirror in mirrors for found in find_mirror(mirror, repo)):
        command = ["git", f"--git-dir={git_dir}", "rev-parse", "--verify", "--quiet", f"{commit}^"]
        if parent := subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip():
            return parent
    return ""


def find_fault(instance: Instance, sources: Sources) -> AuditFinding | None:
    kind = (AuditKind.UNDETERMINED, Severity.FAULT)
    found = audit(instance, tree=open_tree(sources, instance))
    return next((each for each in found if (each.kind, each.severity) == kind), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("audit", type=Path)
    parser.add_argument("--mirror", type=Path, action="append", required=True)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    sources, cases, faults = Sources(options.mirror), Counter[str](), Counter[str]()
    for kind, instance in read_cases(options.audit, options.mirror):
        try:
            found = find_fault(instance, sources)
        except EnvironmentFailure as error:
            print(f"left out: {instance.id}: {error}")
            continue
        cases[kind] += 1
        faults[kind] += found is not None
        if found and options.list:
            print(f"{kind}\t{instance.id}", *found.evidence, sep="\n    ")
    for kind in sorted(cases):
        print(f"| {kind} | {cases[kind]} | {faults[kind]} |")
    wrong = sum(faults[kind] for kind in SOUND)
    right = sum(faults[kind] for kind in faults if kind not in SOUND | PENDING)
    for name, part, whole in (
        ("precision by their classes", right, right + wrong),
        ("recall of airtight", faults["airtight"], cases["airtight"]),
    ):
        share = wilson(part, whole)
        print(f"{name}: {part} of {whole} = {share.estimate:.2f} ({share.low:.2f} to {share.high:.2f})")


if __name__ == "__main__":
    main()
