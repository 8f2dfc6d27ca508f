"""Parts of a run, each for a process of its own: which instances belong to which part."""

import heapq
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Self

from assay.harness.domain import Model, Prediction
from assay.harness.errors import DataError, UserError

USUAL_SECONDS = 1.0  # taken for every instance if the durations of none are known


class Shard(Model):
    """Part ``number``, from 1, of ``of`` parts of a run."""

    number: int
    of: int
    cut: str = ""
    """Hash of what every part is given; parts of one run have the same."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``I/N``; raises UserError for anything else, and unless 1 <= I <= N."""
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if found is None:
            raise UserError(f"--shard {text!r}: write I/N, such as 1/4 for the first of four")
        number, of = map(int, found.groups())
        if not 1 <= number <= of:
            raise UserError(
                f"--shard {text!r}: the first number counts from 1 to the second, such as 1/4, 2/4, 3/4, 4/4"
            )
        return cls(number=number, of=of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def folder(self, run_id: str) -> str:
        """Return the name of this part's folder in place of the whole run's."""
        end = f".shard-{self.number}-of-{self.of}"
        return run_id.removesuffix(end) + end

    def select_ids(
        self, seconds: Mapping[str, float], predictions: Iterable[Prediction] = ()
    ) -> tuple[Self, frozenset[str]]:
        """Return this part with the hash of the cut, and its ids; the arguments are the whole run's."""
        parts = cut(seconds, self.of)
        given = sorted(json.dumps(each.model_dump()) for each in predictions)  # a patch may not be UTF-8
        known = sha256(json.dumps([self.of, [sorted(part) for part in parts], given]).encode()).hexdigest()[:12]
        mine = parts[self.number - 1] if self.number <= len(parts) else ()
        return self.model_copy(update={"cut": known}), frozenset(mine)


def cut(seconds: Mapping[str, float], parts: int) -> list[list[str]]:
    """Part ids: the longest first, each into the part with the least to do; equally long ones in the order of ids.

    The same in every process, since it depends on the arguments alone. Empty parts at the end are left out.
    """
    found: list[list[str]] = [[] for _ in range(min(parts, len(seconds)))]
    loads = [(0.0, 0, number) for number in range(len(found))]
    for name in sorted(seconds, key=lambda name: (-seconds[name], name)):
        load, held, number = loads[0]
        found[number].append(name)
        heapq.heapreplace(loads, (load + seconds[name], held + 1, number))
    return found


def estimate_seconds(work: Iterable[str], idle: Iterable[str], known: Mapping[str, float]) -> dict[str, float]:
    """Return the known seconds of each id, else their mean; ``idle`` ids have no prediction and take no time."""
    names = sorted(work)
    timed = [known[name] for name in names if name in known]
    usual = math.fsum(timed) / len(timed) if timed else USUAL_SECONDS
    return {**dict.fromkeys(idle, 0.0), **{name: known.get(name, usual) for name in names}}


def read_durations(file: Path) -> dict[str, float]:
    """Read a file of seconds by id, such as a copy of ``runs/.index/durations.json``; raises DataError."""
    try:
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise DataError("there is no such file of durations", file=str(file)) from None
    except ValueError:
        raise DataError('is no JSON; write an object such as {"acme__calc-1": 12.5}', file=str(file)) from None
    if not isinstance(found, dict):
        raise DataError("must be an object of seconds by instance id", file=str(file))
    for name, value in found.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value < math.inf:
            raise DataError(f"is {value!r}; write seconds, such as 12.5", file=str(file), field=name)
    return found


def missing_numbers(shards: Sequence[Shard]) -> list[int]:
    """Return the numbers of the parts that are not among these; the parts are of one cut."""
    have = {each.number for each in shards}
    return [number for number in range(1, shards[0].of + 1) if number not in have] if shards else []


def read_shard(shard: str | None, durations: Path | None) -> tuple[Shard | None, dict[str, float]]:
    """Return the part of a run that the options name, and the seconds of instances; raises UserError (DataError)."""
    if durations and not shard:
        raise UserError("--durations balances shards; add --shard I/N")
    return (Shard.parse(shard) if shard else None, read_durations(durations) if durations else {})
