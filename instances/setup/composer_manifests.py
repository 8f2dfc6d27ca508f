"""What a PHP project's composer.json says, and Debian's packages of it. Pure; nothing of the project is run."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.version import InvalidVersion, Version

from assay.instances.setup.providers import load_providers

TOOLS = re.compile(
    r"(phpstan|psalm|infection|rector|pestphp|phpbench|phan|phpmd|symplify|slevomat|phpunit|sebastian|roave|ergebnis)/.*|"
    r"(?!.*/phpunit-).*(php-cs-fixer|php_codesniffer|psalm|coding-standard|phpcs|coveralls|parallel-lint|composer-"
    r"normalize|ocular|paratest|security-advisories|phpmetrics|phpcpd|phploc|captainhook|grumphp|phive).*",
    re.I,
)
"""Packages that no test loads."""
NEEDLESS = re.compile(
    r"symfony/(polyfill-.*|flex)|composer/(installers|package-versions-deprecated)|(phpunit|sebastian)/.*"
)
"""Packages that come with PHPUnit, or that a current PHP or Debian makes needless."""
BOUND = re.compile(r"(\^|~|>=|<=|!=|>|<|=|)\s*v?(\d+(?:\.(?:\d+|\*|x))*)(?:[-@+][\w.-]+)?", re.I)


@dataclass(frozen=True, slots=True)
class Composed:
    """Requirements of a composer.json: package to constraint."""

    needs: Mapping[str, str]
    """All of ``require`` and ``require-dev``."""
    runtime: frozenset[str]
    """The names in ``require``."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The libraries that tests may load."""
        named = (name for name in self.needs if "/" in name and not NEEDLESS.fullmatch(name))
        return tuple(name for name in named if name in self.runtime or not TOOLS.fullmatch(name))

    @property
    def extensions(self) -> tuple[str, ...]:
        """Debian's packages of extensions."""
        named = (name.lower().removeprefix("ext-") for name in self.needs if name.lower().startswith("ext-"))
        return tuple(dict.fromkeys(filter(None, map(find_extension, named))))


def read_composed(text: str) -> Composed:
    """Read a composer.json; one that is broken requires nothing."""
    try:
        content = json.loads(text or "{}")
    except ValueError:
        content = {}
    content = content if isinstance(content, dict) else {}
    needs = dict[str, str]()
    for key in ("require", "require-dev"):
        needs |= {str(name): str(value) for name, value in _mapping(content.get(key)).items()}
    return Composed(needs, frozenset(_mapping(content.get("require"))))


def debian_name(package: str) -> str:
    """Return the name that Debian's package of a Composer package has, if there is one."""
    package = package.lower()
    vendor, _, name = package.partition("/")
    name = re.sub(r"[_.]", "-", name)
    usual = f"php-{name}" if name.startswith(vendor) else f"php-{vendor}-{name}"
    return load_providers().composer.get(package, usual)


def find_extension(name: str) -> str:
    """Return Debian's package of an extension of PHP; empty for one that is always there."""
    known = load_providers()
    return "" if name in known.in_php else known.php_extensions.get(name, f"php-{name.replace('_', '-')}")


def permits(constraint: str, version: str) -> bool:
    """Return whether a Composer constraint allows a version, or a patch release of it; a malformed one allows all."""
    try:
        return any(
            all(_fits(*bound, Version(full)) for bound in _bounds(part))
            for part in re.split(r"\s*\|\|?\s*", constraint)
            for full in (version, f"{version}.99")
        )
    except InvalidVersion:
        return True


def _bounds(part: str) -> Iterator[tuple[str, str]]:
    part = re.sub(r"(\d[\w.]*)\s+-\s+(\d[\w.]*)", r">=\1 <=\2", part)
    return ((found[1], found[2].lower()) for found in BOUND.finditer(part))


def _fits(sign: str, named: str, version: Version) -> bool:
    numbers = [int(each) for each in named.split(".") if each.isdigit()]
    bound, own = Version(".".join(map(str, numbers))), version
    if sign in {">", ">=", "<", "<=", "!="}:
        shown = own.release[: len(numbers)] if sign in {"<=", ">", "!="} else own.release
        here, there = Version(".".join(map(str, shown))), bound
        return {
            ">": here > there,
            ">=": here >= there,
            "<": here < there,
            "<=": here <= there,
            "!=": here != there,
        }[sign]
    kept = 1 if sign == "^" and numbers[0] else (2 if sign == "^" else len(numbers))
    kept = max(1, len(numbers) - 1) if sign == "~" else kept
    return own >= bound and list(own.release[:kept]) == numbers[:kept]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
