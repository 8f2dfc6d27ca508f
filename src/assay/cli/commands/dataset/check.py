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

    loaded = load_instances(dataset, None, split, skip_bad_rows=True, says=False)
    problems = [str(problem) for problem in loaded.problems]
    if json:
        console.print_json({"instances": len(loaded.instances), "problems": problems})
    else:
        for problem in problems:
            print(problem)
        languages = Counter(instance.language for instance in loaded.instances)
        about = ", ".join(f"{number} {language}" for language, number in languages.most_common())
        good, wrong = count(len(loaded.instances), "good instance"), count(len(problems), "wrong row")
        print(f"{good} ({about or 'none'}), {wrong}")
    raise typer.Exit(exits.USAGE if problems else 0)
