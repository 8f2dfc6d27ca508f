"""What the build files of C and C++ say that set-up needs: the tool, options for tests, other trees. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from assay.harness.domain import TreeDownload
from assay.instances.setup.project import Project

CMAKE = ("CMakeLists.txt", "*/CMakeLists.txt", "*.cmake")
CMAKE_TESTS = re.compile(
    r"^\s*(?:enable_testing|add_test|include\s*\(\s*CTest|\w*_discover_tests|\w+_add_tests)\b", re.I | re.M
)
ENABLED = re.compile(r"^\s*(?:enable_testing|include\s*\(\s*CTest)\b", re.IGNORECASE | re.MULTILINE)
OPTION = re.compile(
    r"^\s*(?:cmake_dependent_)?option\s*\(\s*(\w+)\s+(?:\"[^\"]*\"|\w+)\s*(\S*?)\s*\)|\bset\s*\(\s*(\w+)\s+(\w+)\s+CACHE\s+BOOL",
    re.I | re.M,
)
CONDITION = re.compile(r"^\s*(?:else)?if\s*\(([^()\n]*)\)", re.I | re.M)
FOR_TESTS = re.compile(
    r"(?:\w+_)?(?:BUILD_?|ENABLE_|WITH_|MAKE_|USE_|RUN_)?(?:UNIT_?)?TEST(?:S|ING)?(?:_ENABLED?|_BUILD)?"
)
NO_TESTS_OF = re.compile(
    r"FUZZ|BENCH|COVERAGE|SANITI|VALGRIND|PERF|NETWORK|ONLINE|INSTALL|PYTHON|SKIP|DISABLE|32BIT|NO_|WITHOUT|CUDA"
)
NEEDLESS = re.compile(
    r"(?:\w+_)?(?:BUILD|ENABLE|WITH|MAKE|GENERATE)_(?:\w+_)?(?:BENCH(?:MARK)?S?|BENCHMARKING|DOCS?|DOCUMENTATION|DOXYGEN|MANPAGES)"
    r"|(?:\w+_)?(?:BENCH(?:MARK)?S|DOCS|BUILD_BENCH(?:MARK)?)"
)
"""Options of CMake that only build what no test runs."""
MESON_OPTION = re.compile(r"\boption\s*\(\s*'([\w-]*tests?[\w-]*)'([^)]*)\)", re.I)
TARGET = re.compile(
    r"^(test|check|tests|unittests?|unit-?tests?|runtests?|run-tests?|test-all|all-tests)\s*:(?![=:])", re.M
)
MAKEFILES = ("GNUmakefile", "Makefile", "makefile", "Makefile.in", "Makefile.am")
DECLARE = re.compile(r"\b(?:FetchContent_Declare|CPMAddPackage|CPMFindPackage)\s*\(\s*([^()]*)\)", re.I)
CPM_VERSION = re.compile(r"CPM_DOWNLOAD_VERSION\s+\"?v?(\d[\d.]*\d)|CPM\.cmake/releases/download/v(\d[\d.]*\d)/")
"""How a tree names the version of the script by which CMake fetches packages."""
GITHUB = r"(?:https?://|git@|git://|ssh://git@)?(?:www\.)?github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?"
ARCHIVE = re.compile(r"https?://github\.com/([\w.-]+/[\w.-]+)/archive/(?:refs/tags/)?([\w.+-]+?)\.(?:zip|tar\.gz|tgz)")
SET = re.compile(r"^\s*set\s*\(\s*(\w+)\s+\"?([\w.+/:-]+)\"?\s*(?:CACHE[^)]*)?\)", re.I | re.M)


@dataclass(frozen=True, slots=True)
class OtherTree:
    """The tree of another repository that a build wants."""

    name: str
    """The name by which the build asks for it; empty for a submodule."""
    repo: str
    ref: str
    """Commit, tag or branch; empty where only the tree's own commit knows it."""
    path: str = ""
    """Folder of a submodule, or of Meson's subproject."""


CPM = OtherTree("cpm.cmake", "cpm-cmake/CPM.cmake", "")


def choose_tool(project: Project) -> str:
    """Return the build tool whose files define tests: ``cmake``, ``meson``, ``autotools``, ``make``, ``tcl``."""
    root = {path for path in project.paths if "/" not in path}
    if "runtest" in root and "tests/test_helper.tcl" in project.paths:
        return "tcl"
    if "CMakeLists.txt" in root and CMAKE_TESTS.search("\n".join(text for _, text in project.matching(*CMAKE))):
        return "cmake"
    if "meson.build" in root and any(re.search(r"\btest\s*\(", text) for _, text in project.matching("*meson.build")):
        return "meson"
    if root & {"configure.ac", "configure.in", "configure"}:
        return "autotools"
    return "make" if find_target(project)[1] else "cmake"


def find_target(project: Project) -> tuple[str, str]:
    """Return the folder and the target of a makefile that run the tests; empty texts if there are none."""
    for folder in ("", "tests/", "test/", "src/"):
        for name in MAKEFILES:
            found = TARGET.findall(project.text(f"{folder}{name}"))
            if found:
                return folder.rstrip("/") or ".", min(found, key=lambda each: (each != "test", each != "check"))
    return ("", "")


def list_cmake_options(project: Project) -> list[str]:
    """Return the options of CMake that build tests which are off by default, and leave out documents and benchmarks."""
    wanted: dict[str, None] = {}
    for _, text in project.matching(*CMAKE):
        for one, default, other, value in OPTION.findall(text):
            if (default or value).upper() not in {"ON", "TRUE", "1", "YES"} and _is_for_tests(one or other):
                wanted[one or other] = None
        for condition in CONDITION.findall(text):
            names = [each for each in re.findall(r"\b[A-Z]\w*[A-Z]\b", condition) if _is_for_tests(each)]
            defined = {name for names in OPTION.findall(text) for name in names}
            wanted |= dict.fromkeys(each for each in names if each not in defined)
    unwanted = (
        f"-D{name}=OFF"
        for _, text in project.matching(*CMAKE)
        for name in _list_switches(text)
        if NEEDLESS.fullmatch(name)
    )
    on = {name for _, text in project.matching(*CMAKE) for name in _list_switches(text)}
    if not ENABLED.search(project.text("CMakeLists.txt")):  # else ctest sees no test from the root folder
        wanted["CMAKE_TESTING_ENABLED"] = None
    return [*(f"-D{name}=ON" for name in wanted if name not in on), *dict.fromkeys(unwanted)]


def list_meson_options(project: Project) -> list[str]:
    found = [
        each
        for _, text in project.matching("meson_options.txt", "meson.options")
        for each in MESON_OPTION.findall(text)
    ]
    values = {"boolean": "true", "feature": "enabled"}
    kinds = [
        (name, re.search(r"type\s*:\s*'(\w+)'", rest)) for name, rest in found if not NO_TESTS_OF.search(name.upper())
    ]
    return [f"-D{name}={values[kind[1]]}" for name, kind in kinds if kind and kind[1] in values]


def least_cmake(project: Project) -> tuple[int, ...]:
    """Return the oldest version of CMake that the root folder's file allows."""
    found = re.search(r"cmake_minimum_required\s*\(\s*VERSION\s+(\d+)\.(\d+)", project.text("CMakeLists.txt"), re.I)
    return tuple(map(int, found.groups())) if found else ()


def list_other_trees(project: Project) -> list[OtherTree]:
    """Return the repositories that submodules, Meson's wraps and CMake's FetchContent take from GitHub, each once."""
    found = [*_read_submodules(project), *_read_wraps(project)]
    texts = [text for _, text in project.matching(*CMAKE)]
    variables = dict(SET.findall("\n".join(texts)))
    found += [replace(CPM, ref=one or other) for one, other in CPM_VERSION.findall("\n".join(texts))[:1]]
    for text in texts:
        for call in DECLARE.findall(re.sub(r"#[^\n]*", "", text)):
            filled = re.sub(r"\$\{(\w+)\}", lambda name: variables.get(name[1], name[0]), call)
            found += filter(None, [_read_declaration(filled)])
    return list({(each.name.lower(), each.path): each for each in found}.values())


def _is_for_tests(name: str) -> bool:
    return bool(FOR_TESTS.fullmatch(name.upper())) and not NO_TESTS_OF.search(name.upper()) and name != "TEST"


def _list_switches(text: str) -> Iterator[str]:
    for one, default, other, value in OPTION.findall(text):
        if (default or value).upper() in {"ON", "TRUE", "1", "YES"}:
            yield one or other


def _read_submodules(project: Project) -> Iterator[OtherTree]:
    for part in project.text(".gitmodules").split("[submodule")[1:]:
        values = dict(re.findall(r"^\s*(path|url)\s*=\s*(\S+)\s*$", part, re.M))
        url = re.sub(
            r"^\.\./(?=[\w.-]+$)", f"https://github.com/{project.repo.partition('/')[0]}/", values.get("url", "")
        )
        if (repo := re.fullmatch(GITHUB, url)) and values.get("path"):
            yield OtherTree("", repo[1], "", values["path"])


def _read_wraps(project: Project) -> Iterator[OtherTree]:
    for path, text in project.matching("subprojects/*.wrap"):
        name = path.removeprefix("subprojects/").removesuffix(".wrap")
        values = dict(re.findall(r"^\s*(\w+)\s*=\s*(\S+)\s*$", text, re.MULTILINE))
        archive = ARCHIVE.match(values.get("source_url", ""))
        repo = re.fullmatch(GITHUB, values.get("url", "")) or archive
        ref = archive[2] if archive else values.get("revision", "")
        patched = any(key.startswith("patch") for key in values)  # else the project itself is built by Meson
        folder = f"subprojects/{values.get('directory', name)}"
        yield OtherTree(name, repo[1] if repo and not patched else "", ref, folder)


def _read_declaration(call: str) -> OtherTree | None:
    words = [word.strip('"') for word in call.split()]
    pairs = dict(pairwise(words))
    name = pairs.get("NAME", words[0] if words else "")
    if short := re.fullmatch(r"gh:([\w.-]+/[\w.-]+?)(?:[@#]v?([\w.-]+))?", words[0] if words else ""):
        return OtherTree(short[1].partition("/")[2], short[1], short[2] or "")
    if archive := ARCHIVE.search(pairs.get("URL", "")):
        return OtherTree(name, archive[1], archive[2])
    repo = re.fullmatch(GITHUB, pairs.get("GIT_REPOSITORY", "")) or re.fullmatch(
        GITHUB, f"github.com/{pairs.get('GITHUB_REPOSITORY', '')}"
    )
    ref = pairs.get("GIT_TAG") or pairs.get("VERSION", "")
    return OtherTree(name, repo[1], ref) if repo else None


def download_path(tree: OtherTree) -> str:
    return f"{(tree.path or tree.name).lower().replace('/', '-')}.tar"


def select_placed(trees: Iterable[OtherTree], downloads: Iterable[TreeDownload]) -> Iterator[OtherTree]:
    """Yield the trees that there are downloads of."""
    there = {each.path for each in downloads}
    return (tree for tree in trees if download_path(tree) in there)
