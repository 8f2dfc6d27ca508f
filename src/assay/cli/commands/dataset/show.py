"""``assay dataset show``: the instances of a data set."""

from typing import TYPE_CHECKING

from assay.cli import options
from assay.cli.loading import load_instances
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.domain import Instance


def show(
    dataset: options.Dataset,
    ids: options.Ids = None,
    split: options.Split = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """List the instances of a data set; with -i, show single ones in full.

    \b
    Examples:
      assay dataset show releases
      assay dataset show releases -i pallets__flask-2.3.2
    """
    from assay.cli import console

    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows, may_lack_labels=True)
    if json:
        about = {"dataset": loaded.ref.name, "revision": loaded.ref.revision}
        console.print_json({**about, "instances": list(loaded.instances)})
    elif ids:
        for instance in loaded.instances:
            _show_one(instance)
    else:
        columns = ("instance", "repository", "created", "fail to pass", "pass to pass")
        rows = [
            (each.id, each.repo, _date(each)[:10], str(len(each.fail_to_pass)), str(len(each.pass_to_pass)))
            for each in loaded.instances
        ]
        console.print_rows(columns, rows)
        print(f"{count(len(loaded.instances), 'instance')} of {loaded.ref.name} at {loaded.ref.revision[:12]}")


def _date(instance: "Instance") -> str:
    from assay.harness.domain import UNKNOWN_TIME

    return "unknown" if instance.created_at == UNKNOWN_TIME else instance.created_at.isoformat()


def _base(instance: "Instance") -> str:
    if instance.archive:
        return f"{instance.archive.name} {instance.archive.version}"
    return f"{instance.base.commit} with a patch on top" if instance.base else instance.base_commit


def _show_one(instance: "Instance") -> None:
    facts = {
        "instance": instance.id,
        "repository": instance.repo,
        "base": _base(instance),
        "created": _date(instance),
        "version": instance.version,
        "rule": instance.rule,
        "tests": f"{len(instance.fail_to_pass)} fail to pass, {len(instance.pass_to_pass)} pass to pass",
    }
    for name, value in facts.items():
        print(f"{name:<12} {value}")
    for title, text in (
        ("problem", instance.problem_statement),
        ("gold patch", instance.gold_patch),
        ("test patch", instance.test_patch),
        ("fail to pass", "\n".join(instance.fail_to_pass)),
    ):
        print(f"\n--- {title}\n{text.rstrip()}")
