"""The commands that the scripts of a JavaScript project come to in the end. Nothing is executed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from posixpath import join, normpath

from assay.instances.environments.shell import UnreadableError, read_statements
from assay.instances.setup.node_manifests import NodePackage

DEEPEST = 8  # scripts that call each other
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
BUILDS = re.compile(
    r"(pre|post)?(build|compile|bundle|codegen|generate|transpile|tsc|babel)([:._-].*)?|.*[:_-](build|compile)"
)
"""Names of scripts that make files which tests may load."""
NO_BUILD = re.compile(r".*(watch|clean|docs?|types?|site|storybook|release|prod|publish|analy[sz]e|demo|examples?)\b.*")
MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun", "npx", "bunx", "pnpx"})
RUNS = frozenset({"run", "run-script", "exec", "x", "dlx"})
TEST_WORDS = frozenset({"test", "t", "tst"})
OF_MANAGER_ALONE = frozenset(
    {"install", "i", "ci", "add", "publish", "pack", "audit", "link", "version", "config", "init"}
)
WRAPPERS = frozenset(
    {"cross-env", "cross-env-shell", "env", "env-cmd", "dotenv", "dotenvx", "c8", "nyc", "exec", "time"}
)
WRAPPERS |= frozenset(
    {"istanbul", "xvfb-run", "command", "sh", "bash", "start-server-and-test", "wireit", "npx", "bunx", "pnpx"}
)
SEVERAL = {"npm-run-all": False, "npm-run-all2": False, "run-s": False, "run-p": False, "concurrently": True}
"""Programs that run scripts by patterns of names, and whether they take whole commands instead."""
EVERYWHERE = frozenset({"turbo", "lerna", "nx", "ultra", "wsrun", "moon", "rush", "lage"})
"""Programs that run a script of every package."""
PROGRAMS = {"jest.js": "jest", "_mocha": "mocha", "mocha.js": "mocha", "vitest.mjs": "vitest", "tape.js": "tape"}
NODE_OPTIONS = re.compile(
    r"--(max[-_]old[-_]space[-_]size|experimental-[\w-]+|require|loader|import|no-warnings|enable-source-maps|stack-trace-limit"
    r"|openssl-legacy-provider|no-experimental-[\w-]+|unhandled-rejections|conditions)(=.*)?|-[rC]"
)
"""Options of node that a variable can give it, too."""
WITH_VALUE = frozenset({"-r", "--require", "--loader", "--import", "-C", "--conditions", "--experimental-loader"})


@dataclass(frozen=True, slots=True)
class ScriptCommand:
    """One command that a script runs."""

    folder: str
    """The package's; empty for the root folder."""
    words: tuple[str, ...]
    env: tuple[str, ...] = ()
    """Assignments before it."""
    script: str = ""
    """The script in which it stands."""
    prepares: bool = False
    """Whether it belongs to a script that runs before another, such as ``pretest``."""

    @property
    def program(self) -> str:
        return self.words[0].rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Expansion:
    """Follows scripts through the packages of a project."""

    packages: Mapping[str, NodePackage]
    """Folder to package; the root's folder is empty."""

    def follow(self, folder: str, name: str, depth: int = 0) -> Iterator[ScriptCommand]:
        """Yield the commands of a script, and of those before and after it; a script that builds is one command."""
        package = self.packages.get(folder)
        if package is None or depth > DEEPEST:
            return
        for each in (f"pre{name}", name, f"post{name}"):
            if text := package.scripts.get(each):
                found = self._read(ScriptCommand(folder, (), (), each), text, depth)
                yield from (replace(command, prepares=True) for command in found) if each != name else found

    def _read(self, at: ScriptCommand, text: str, depth: int) -> Iterator[ScriptCommand]:
        try:
            found = [each for statement in read_statements(text) for each in statement.assigned_commands]
        except UnreadableError:
            return
        folder = at.folder
        for before, words in found:
            if words[0] == "cd" and len(words) == 2:
                folder = normpath(join(folder, words[1])).removeprefix(".").removeprefix("/")
                continue
            command = replace(at, folder=folder, words=words, env=(*at.env, *(each for each in before if "=" in each)))
            yield from self._resolve(command, depth)

    def _resolve(self, command: ScriptCommand, depth: int) -> Iterator[ScriptCommand]:
        command = unwrap(command)
        words, program = command.words, command.program if command.words else ""
        if not words:
            return
        if program in SEVERAL:
            yield from self._follow_several(command, depth)
        elif program in EVERYWHERE:
            names = _list_targets(words[1:])
            yield from (each for name in names for each in self._follow_everywhere(command, name, depth))
        elif program in MANAGERS:
            yield from self._follow_manager(command, depth)
        else:
            yield command

    def _follow_several(self, command: ScriptCommand, depth: int) -> Iterator[ScriptCommand]:
        whole = SEVERAL[command.program]
        for word in command.words[1:]:
            if word.startswith("-"):
                continue
            name = word.removeprefix("npm:") if whole else word.split(" ")[0]
            if whole and not word.startswith("npm:"):
                yield from self._read(replace(command, words=()), word, depth + 1)
            else:
                yield from self._follow_names(command, name, depth)

    def _follow_names(self, command: ScriptCommand, pattern: str, depth: int) -> Iterator[ScriptCommand]:
        """Follow the scripts that a pattern names, where a star stands for one part."""
        package = self.packages.get(command.folder)
        for name in package.scripts if package else ():
            parts, wanted = name.split(":"), pattern.split(":")
            same = len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
            if name == pattern or same or (wanted[-1] == "**" and fnmatchcase(name, pattern)):
                yield from self._follow_script(command, name, (), depth)

    def _follow_script(
        self, command: ScriptCommand, name: str, more: Sequence[str], depth: int
    ) -> Iterator[ScriptCommand]:
        if BUILDS.fullmatch(name):
            if not NO_BUILD.fullmatch(name):
                yield replace(command, words=("npm", "run", name), script=name)
            return
        found = list(self.follow(command.folder, name, depth + 1))
        if found and more:
            found[-1] = replace(found[-1], words=(*found[-1].words, *more))
        yield from (replace(each, env=(*command.env, *each.env)) for each in found)

    def _follow_manager(self, command: ScriptCommand, depth: int) -> Iterator[ScriptCommand]:
        """Follow a command of a package manager: a script of its package, of named packages, or of all."""
        words, folders, everywhere = _read_options(command, self.packages)
        name, more = (words[0], words[1:]) if words else ("", ())
        more = more[1:] if more[:1] == ("--",) else more
        if name in OF_MANAGER_ALONE or not name:
            return
        name = "test" if name in TEST_WORDS else name
        known = any(name in self.packages[folder].scripts for folder in folders if folder in self.packages)
        if everywhere:
            yield from self._follow_everywhere(command, name, depth)
        elif known:
            for folder in folders:
                yield from self._follow_script(replace(command, folder=folder), name, more, depth)
        elif "run" not in command.words:
            yield from self._resolve(replace(command, words=(name, *more)), depth + 1) if depth < DEEPEST else ()

    def _follow_everywhere(self, command: ScriptCommand, name: str, depth: int) -> Iterator[ScriptCommand]:
        if BUILDS.fullmatch(name):
            yield command
            return
        for folder in self.packages:
            if folder:
                yield from self._follow_script(replace(command, folder=folder), name, (), depth)


def unwrap(command: ScriptCommand) -> ScriptCommand:
    """Remove programs that only start another one: to measure coverage, to set variables."""
    env, words = [*command.env], [*command.words]
    while words:
        program = words[0].rpartition("/")[2]
        if ASSIGNMENT.fullmatch(words[0]):
            env.append(words.pop(0))
        elif program in {"npx", "bunx", "pnpx"} or words[:2] in (["npm", "exec"], ["pnpm", "exec"], ["yarn", "exec"]):
            words = words[2:] if words[1:2] == ["exec"] else words[1:]
            words = _drop_options(words)
        elif program in WRAPPERS:
            words = _find_wrapped(words[1:], env)
        elif program == "node" and (inner := _find_program(words)) is not None:
            options, words = inner
            env += [f"NODE_OPTIONS={' '.join(options)}"] if options else []
        else:
            break
    return replace(command, env=tuple(env), words=tuple(words))


def _find_wrapped(words: list[str], env: list[str]) -> list[str]:
    """Return the words from the program on that a wrapper starts; assignments before it go to ``env``."""
    while words and (words[0].startswith("-") or ASSIGNMENT.fullmatch(words[0]) or words[0] == "cover"):
        word = words.pop(0)
        if word == "--":
            break
        if ASSIGNMENT.fullmatch(word) and not word.startswith("-"):
            env.append(word)
        elif word in {"-e", "-f", "-r", "--reporter", "--config", "-c"} and words:
            words.pop(0)
    if len(words) == 1 and " " in words[0]:  # a whole command in quotes
        return words[0].split()
    return words


def _find_program(words: list[str]) -> tuple[list[str], list[str]] | None:
    """Return options of node and the command, where node is given a program of a package."""
    options, rest = list[str](), words[1:]
    while rest and rest[0].startswith("-") and rest[0] != "--test":
        word = rest.pop(0)
        value = [rest.pop(0)] if word in WITH_VALUE and rest else []
        if NODE_OPTIONS.fullmatch(word):
            options += [word, *value]
    if not rest or "node_modules/" not in rest[0]:
        return None
    name = rest[0].rpartition("/")[2]
    package = re.sub(r".*node_modules/(?:\.bin/)?((?:@[^/]+/)?[^/]+).*", r"\1", rest[0])
    return options, [PROGRAMS.get(name, name if "/.bin/" in rest[0] else package), *rest[1:]]


def _drop_options(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in {"-p", "--package", "-c"} else words[1:]
    return words


def _list_targets(words: Sequence[str]) -> list[str]:
    """Return the scripts that ``turbo run``, ``lerna run`` or ``nx run-many`` run in every package."""
    plain = [word for word in words if not word.startswith("-") and word not in {"run", "run-many", "affected", "exec"}]
    named = [word.partition("=")[2] for word in words if re.match(r"--targets?=|-t=", word)]
    return [name.rpartition(":")[2] for name in (named[0].split(",") if named else plain[:2])]


def _read_options(
    command: ScriptCommand, packages: Mapping[str, NodePackage]
) -> tuple[tuple[str, ...], list[str], bool]:
    """Return the words that a package manager runs, the folders of the packages where it does, and whether in all."""
    rest, kept, folders, everywhere = list(command.words[1:]), list[str](), list[str](), False
    names = {package.name: folder for folder, package in packages.items()}
    while rest:
        word = rest.pop(0)
        option, _, value = word.partition("=")
        if kept and kept[0] not in RUNS | {"workspaces", "foreach", "workspace"}:
            kept.append(word)
        elif option in {"-w", "--workspace", "--filter", "-F", "--prefix", "-C", "--cwd"} and (value or rest):
            folder = value or rest.pop(0)
            known = names.get(folder.strip("./{}"), names.get(folder, normpath(folder)))
            folders.append("" if known == "." else known)
            everywhere = everywhere or "*" in folder or folder.startswith("!")
        elif option in {"-r", "--recursive", "-ws", "--workspaces", "--parallel", "-A", "--all", "-pt", "-Apt", "-pv"}:
            everywhere = True
        elif word == "workspace" and rest:
            folders.append(names.get(rest[0], rest.pop(0)) if rest[0] not in names else names[rest.pop(0)])
        elif word in {"workspaces", "foreach"}:
            everywhere = True
        elif not word.startswith("-") and (kept or word not in RUNS):
            kept.append(word)
    return tuple(kept), folders or [command.folder], everywhere
