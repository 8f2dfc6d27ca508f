"""Observes what the tests of a project look at, in the tests as they are and in changed copies of them.

Runs inside a container, on one side of a comparison. Input: ``files``, ``targets``, ``seed``, ``mutants`` (changed
copies of each test), ``limit`` (seconds for a test), ``budget`` (seconds for all), ``only`` (keys, or null for all),
and optionally ``command`` (starts the tests, by pytest if there is none), ``tests`` (names of those to run; all by
default), ``own`` and ``own_mutants`` (names of the tests of the issue itself, and how many changed copies each of these
gets) and ``words`` (texts that the change itself is about). Each line of output is an observation. The idea is
observation-based test amplification: asserted expressions are observation points. With ``operators`` (names) and
``asked`` (what the changed code asks for), these make the copies; of the tests as they are, those in the file
``snippets`` alone are observed then.
"""

import builtins
import hashlib
import signal
import sys
import time
import tokenize
from collections.abc import Container, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from . import mutate, operators, running, sites, texts, trace, wire
from .brackets import TokenEdit
from .loading import Finder

ROWS = 3  # rows of a parametrization that a changed copy runs with
PASSES = 12  # observations of one place in one test: a loop repeats itself
MOST = 300  # observations of one test
BRIEF = 0.1  # seconds for a changed copy: one that loops for ever must not cost the time of many others
SLOWER = 10  # a copy may take this many times as long as its test
WAITING = 2  # times its limit that a test may take by the clock, most of it waiting
MAKING, LATE = 0.8, 40  # share of all time that making copies may take; copies of an own test that comes later
AGAIN = 0.2  # seconds until a time limit that code under test has swallowed strikes again
REACHED, TOOK = "reached ", "took "


class OutOfTime(BaseException):
    """A test has had its time."""


class Absent(Exception):
    """The statement that would set an observed value failed, so there is nothing to compare."""


class Seeing:
    """The context manager around one observed statement."""

    def __init__(self, recorder: "SiteRecorder", site: sites.Site) -> None:
        self._recorder = recorder
        self._site = site

    def __getattr__(self, name: str) -> object:
        """Raise Absent for ``value``: the statement that would set it has failed."""
        raise Absent(name)

    def __enter__(self) -> "Seeing":
        if self._site.mode == sites.WHOLE:
            self._recorder.start_clock()
        if self._site.label.startswith("s"):
            self._recorder.edits = self._site.edits
        return self

    def __exit__(self, kind: Any, error: "BaseException | None", where: Any) -> bool:
        whole = self._site.mode == sites.WHOLE
        if whole:
            self._recorder.stop_clock()
        if isinstance(error, Absent):
            return True
        if error is None:
            self._note_end()
            return False
        if isinstance(error, OutOfTime):
            if whole:
                self._recorder.note(self._site, "timeout")
            return whole
        if running.is_skip(error) or not (isinstance(error, Exception) or type(error).__name__ == "Failed"):
            return False
        self._recorder.note_error(self._site, error)
        return self._site.mode not in (sites.STRICT, sites.RAISED)

    def _note_end(self) -> None:
        if "value" in vars(self):
            self._recorder.note_value(self._site, vars(self)["value"])
        elif self._site.mode in (sites.RAISED, sites.BLOCK, sites.WHOLE):
            self._recorder.note(self._site, "value", "", "<nothing raised>")


class SiteRecorder:
    """Writes the observations of the test that is running."""

    def __init__(self, channel: "wire.WorkerPipe", reach: "trace.TargetWatch", job: "wire.Line") -> None:
        self.sites: list[sites.Site] = []
        self.only = frozenset(job.get("only") or ())
        self.probe = ""
        self.edits: list[TokenEdit] = []  # that what runs now depends on
        self._channel = channel
        self._reach = reach
        self._longest = self._limit = float(job["limit"])
        self._test, self._mutated, self._operator = "", False, ""
        self._by_rule = bool(job.get("operators"))
        self._times: dict[str, int] = {}
        self._total = 0
        self._last: BaseException | None = None
        self._busy = False

    def begin(self, test: str, mutant: int, took: "float | None" = None, operator: str = "") -> None:
        """Begin with a test, or with the copy of that number, which an operator may have made.

        `took` has the seconds of the test as it is, if the copy is to be brief.
        """
        self._operator = operator
        self._limit = self._longest if took is None else min(self._longest, max(BRIEF, SLOWER * took))
        self._test, self._mutated = test, mutant > 0
        self.probe = name_probe(test, mutant)
        self._times, self._total, self._last = {}, 0, None

    def see(self, number: int) -> Seeing:
        """Return the context manager of a place; the rewritten test files call this."""
        return Seeing(self, self.sites[number])

    def note_value(self, site: sites.Site, value: object) -> None:
        text = texts.content(value) if site.mode == sites.CONTENT else ""
        if text is not None and self._counts(site):
            self._write(site, "value", texts.type_name(value), text or texts.describe(value, site.draw))

    def note_error(self, site: sites.Site, error: BaseException) -> None:
        if error is not self._last and site.mode != sites.CONTENT:
            self._last = error
            self.note(site, "error", texts.type_name(error))

    def note(self, site: sites.Site, kind: str, type_: str = "", text: str = "") -> None:
        if self._counts(site):
            self._write(site, kind, type_, text)

    def start_clock(self) -> None:
        for signal_, timer, seconds in (
            (signal.SIGPROF, signal.ITIMER_PROF, self._limit),
            (signal.SIGALRM, signal.ITIMER_REAL, self._limit * WAITING),
        ):
            signal.signal(signal_, self._strike)
            signal.setitimer(timer, seconds, AGAIN)

    def stop_clock(self) -> None:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)

    def _strike(self, _number: int, _frame: object) -> None:
        if not self._busy:
            raise OutOfTime

    def _counts(self, site: sites.Site) -> bool:
        times = self._times.get(site.label, 0)
        self._times[site.label] = times + 1
        self._total += 1
        if self._by_rule and not self._operator:
            return False
        if not self._test or times >= PASSES or self._total > MOST:
            return False
        if self._mutated and site.mode != sites.WHOLE and not self._find_edits(site):
            return False  # nothing that it depends on is changed: the test itself shows the same
        return not self.only or self._key(site) in self.only

    def _find_edits(self, site: sites.Site) -> "list[TokenEdit]":
        """Return the changes that a place depends on; a place in a helper depends on those of its caller."""
        return site.edits if site.label.startswith("s") else self.edits

    def _key(self, site: sites.Site) -> str:
        return self.probe + "|" + site.label + "#" + str(self._times[site.label])

    def _write(self, site: sites.Site, kind: str, type_: str, text: str) -> None:
        self._busy = True
        try:
            place = {"test": self._test, "line": site.line, "expression": site.text, "mode": site.mode}
            redo = {**place, "mutations": self._find_edits(site)}
            key, seen, target = self._key(site), (kind, type_, text), self._reach.found
            more = {"operator": self._operator} if self._operator else {}
            self._channel.send(wire.observation(key, self._test, seen, target, self._mutated, literal=redo, **more))
        finally:
            self._busy = False


def name_probe(test: str, mutant: int) -> str:
    """Return the name of a test's run: the keys of its observations begin with it."""
    return test + "|m" + str(mutant)


class Amplifier(running.Driver):
    """Runs every test as it is, then the changed copies of the tests that reach a target."""

    def __init__(self, job: "wire.Line", channel: "wire.WorkerPipe") -> None:
        super().__init__(job, channel)
        self._deadline = wire.WorkBudget(float(job["budget"]))
        self._reach = trace.TargetWatch(job["targets"])
        self._recorder = SiteRecorder(channel, self._reach, job)
        took = (name[len(TOOK) :].rpartition(" ") for name in self.finished if name.startswith(TOOK))
        self._took = {function: float(seconds) for function, _, seconds in took}
        self._began = 0.0
        self._reaching = {name[len(REACHED) :] for name in self.finished if name.startswith(REACHED)}
        self._wanted = frozenset(key.rpartition("|")[0] for key in self._recorder.only)
        self._numbers: dict[str, set[int]] = {}
        for probe in self._wanted:
            self._numbers.setdefault(running.bare_name(probe), set()).add(int(probe.rpartition("|m")[2]))
        self._own = {running.bare_name(test) for test in job.get("own") or ()}
        self._functions = {_function_name(test) for test in job.get("tests") or ()}
        classes = {part for row in job["targets"] for part in row["name"].split(".")[:-1]}
        rules = {"asked": job.get("asked"), "operators": job.get("operators") or ()}
        self._material = mutate.Material((), job.get("words") or (), {}, classes, **rules)
        self._making: wire.WorkBudget | None = None
        self._finder = Finder(job["files"], self._make)

    def _make(self, path: str) -> "CodeType":
        with tokenize.open(path) as file:
            source = file.read()
        name = Path(path).relative_to(wire.ROOT).as_posix() if wire.ROOT in Path(path).parents else Path(path).name
        seed, seen = int(self.job["seed"]), self._recorder.sites
        made = sites.Instrument(source, name, seed, self._copies, seen, self._material).rewrite()
        return compile(made, path, "exec", dont_inherit=True)

    def _copies(self, test: str) -> "tuple[int, Container[int] | None]":
        """Return the number of a test's changed copies, and the numbers of the copies that will run."""
        wanted = self._wanted or self._functions
        if wanted and not any(running.bare_name(name) == test for name in wanted):
            return 0, None
        self._making = self._making or wire.WorkBudget(self._deadline.remaining() * MAKING)
        late = self._making.is_spent() and not self._wanted
        count = LATE * (test in self._own) if late else int(self.job["own_mutants" if test in self._own else "mutants"])
        numbers = self._numbers.get(test, {0}) if self._wanted else range(1, count + 1)
        return max(numbers, default=0), numbers

    def collecting(self) -> None:
        setattr(builtins, sites.SEE, self._recorder.see)
        sys.meta_path.insert(0, self._finder)

    def rounds(self, items: "list[Any]") -> "Iterator[list[Any]]":
        """Yield the tests as they are, own ones first, then copies by number, those near the own tests sooner."""
        numbered = [(sites.copy_number(item.nodeid), item) for item in items]
        plain = [item for number, item in numbered if not number and self._is_wanted(item)]
        first, others = running.split_own(plain, self._own, self.job["targets"])
        yield [*first, *others]
        copies: dict[tuple[int, str], list[Any]] = {}
        for number, item in numbered:
            if number and self._is_wanted(item):
                copies.setdefault((number, _function_name(item.nodeid)), []).append(item)
        known = {item.nodeid for item in items}
        own = [_function_name(item.nodeid).split("::") for item in running.split_own(items, self._own)[0]]
        tests = {test for _, test in copies}  # near to an own one is what shares its file, or its class as well
        near = {test: max([0] + [sum(map(str.__eq__, test.split("::"), each)) for each in own]) for test in tests}
        order = sorted(copies, key=lambda key: key[0] / 2 ** near[key[1]])
        yield [item for key in order for item in self._rows(key, copies[key], known)]

    def _is_wanted(self, item: Any) -> bool:
        if self._functions and _function_name(item.nodeid) not in self._functions:
            return False
        probe = name_probe(sites.strip_mark(item.nodeid), sites.copy_number(item.nodeid))
        return probe not in self.finished and (not self._wanted or probe in self._wanted)

    def _rows(self, key: "tuple[int, str]", items: "list[Any]", known: "set[str]") -> "list[Any]":
        """Return the rows of a changed copy to run: the new ones, or else some that reach a target as they are."""
        if self._wanted:
            return items
        plain = {item.nodeid: sites.strip_mark(item.nodeid) for item in items}
        new = [item for item in items if plain[item.nodeid] not in known and key[1] in self._reaching]
        by_rule = bool(self._material.operators)  # a new call may reach what its test does not
        old = [item for item in items if by_rule or plain[item.nodeid] in self._reaching]
        salt = str(self.job["seed"]) + str(key)
        ordered = sorted(old, key=lambda item: hashlib.sha256((salt + item.nodeid).encode()).hexdigest())
        return (new or ordered)[:ROWS]

    def before(self, item: Any) -> None:
        number, function = sites.copy_number(item.nodeid), _function_name(item.nodeid)
        took = self._took.get(function, 0.0) if number and not self._recorder.only else None
        is_snippet = item.nodeid.startswith(self.job.get("snippets") or "::")
        operator = sites.find_operator(item.nodeid) or operators.SNIPPET * is_snippet
        self._recorder.begin(sites.strip_mark(item.nodeid), number, took, operator)
        self.channel.send({"start": self._recorder.probe})
        self._began = time.monotonic()
        self._reach.begin()

    def after(self, item: Any) -> None:
        self._reach.end()
        test, took = sites.strip_mark(item.nodeid), time.monotonic() - self._began
        if test == item.nodeid and took > BRIEF / SLOWER:
            self._took[_function_name(test)] = took
            self.channel.send({"stop": TOOK + _function_name(test) + " " + format(took, ".3f")})
        if self._reach.found and test not in self._reaching:
            for name in (test, _function_name(test)):
                self._reaching.add(name)
                self.channel.send({"stop": REACHED + name})
        self.channel.send({"stop": self._recorder.probe})

    def ready(self) -> None:
        super().ready()
        self._deadline.restart(float(self.job["budget"]))

    def is_spent(self) -> bool:
        return self._deadline.is_spent()

    def not_passed(self, error: BaseException, when: str) -> None:
        """Note a failure of a test's fixtures; the test's own failures have been observed."""
        if when == "setup" and not running.is_skip(error):
            self._recorder.note_error(sites.Site("setup", 0, "", sites.WHOLE, False, []), error)

    def not_collected(self, name: str, why: str) -> None:
        if name_probe(name, 0) in self.finished:
            return  # a worker before this one has said so
        self.channel.send({"stop": name_probe(name, 0)})
        self._recorder.begin(name, 0)
        self._recorder.note(sites.Site("import", 0, "", sites.WHOLE, False, []), "error", why)


def _function_name(nodeid: str) -> str:
    return sites.strip_mark(nodeid.partition("[")[0])


make_driver = Amplifier
