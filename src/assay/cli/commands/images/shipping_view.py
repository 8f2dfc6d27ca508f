"""What came of exporting, importing, pushing or pulling, for a person or a program."""

import json as jsonlib
from typing import TYPE_CHECKING

from assay.cli import console, exits
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.jobs.ship import Shipped


def show(shipped: "Shipped", where: str, *, as_json: bool) -> int:
    """Print what came of it; return the exit code.

    Args:
        shipped: what came of it.
        where: the place of the images now.
        as_json: print one JSON object.
    """
    if as_json:
        problems = {each.instance_id: each.error for each in shipped.failed}
        instances = {each.instance_id: each.result for each in shipped.done if each.result}
        console.print_json(
            jsonlib.dumps(
                {
                    "images": shipped.images,
                    "moved": shipped.moved,
                    "instances": instances,
                    "problems": problems,
                    "bytes": shipped.size,
                    "seconds": round(shipped.seconds, 1),
                }
            )
        )
    else:
        for each in shipped.failed:
            print(f"{each.instance_id}: {each.error}")
        size = f" ({shipped.size / 1e6:.0f} MB)" if shipped.size else ""
        there = len(shipped.images) - len(shipped.moved)
        already = f", {there} of them already" if there > 0 else ""
        print(f"{count(len(shipped.images), 'image')} {where}{size}{already}, in {shipped.seconds:.1f} s")
    return exits.INFRASTRUCTURE if shipped.failed else 0
