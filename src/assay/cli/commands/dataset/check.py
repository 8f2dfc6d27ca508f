"""``assay dataset check``: wrong rows of a data set."""

from collections import Counter

import typer

from assay.cli import exits, options
from assay.cli.loading import load_instances
from assay.harness.names import count


def check(dataset: options.Dataset, split: options.Split = None, json: options.Json = False) -> None:
    """Read every row and report each that is wrong; exit 2 if any is.

    Labels of Multi-SWE-bench rows are recomputed from the three results that each row carries.

    \b
    Examples:
      assay dataset check rows.jsonl
      assay dataset check polybench.csv --json
    """
    from assay.cli import console
    from assay.harness.errors import DataError
    from assay.instances.dataset.formats.log_parsers import check_format

    loaded = load_instances(dataset, None, split, skip_bad_rows=True, says=False)
    unread = {each.id: problem for each in loaded.instances if (problem := check_format(each.log_format))}
    unknown = [DataError(why, file=dataset, instance=name, field="log_parser") for name, why in unread.items()]
    problems = [str(problem) for problem in (*loaded.problems, *unknown)]
    instances = [each for each in loaded.instances if each.id not in unread]
    if json:
        console.print_json({"instances": len(instances), "problems": problems})
    else:
        for problem in problems:
            print(problem)
        languages = Counter(instance.language for instance in instances)
        about = ", ".join(f"{number} {language}" for language, number in languages.most_common())
        good, wrong = count(len(instances), "good instance"), count(len(problems), "wrong row")
        print(f"{good} ({about or 'none'}), {wrong}")
    raise typer.Exit(exits.USAGE if problems else 0)
