"""The first recipe of a project in C or C++: its build tool, what builds its tests, and trees of other repositories."""

from assay.harness.domain import Recipe
from assay.instances.setup import native_manifests as manifests
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.build_tools import fill_commands
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.providers import load_providers

CMAKE_OF = {"12": (3, 25), "14": (3, 31)}
"""Version of CMake beside a compiler; that of an older one writes no report."""
INSTALL_CMAKE = (
    "cmake -S . -B assay-build -DCMAKE_BUILD_TYPE=Debug {options}",
    "cmake --build assay-build --parallel 2",
)
SOURCES = "/opt/sources"


def propose(facts: Facts, recipe: Recipe) -> Recipe:
    tool = choose_commands(facts)
    folder, target = manifests.find_target(facts.project)
    fields = fill_commands(tool, target or "check", folder or ".")
    options = {"cmake": manifests.list_cmake_options, "meson": manifests.list_meson_options}.get(tool)
    recipe = recipe.model_copy(update=fields)
    recipe = edits.add_items(recipe, "options", options(facts.project) if options else ())
    least = manifests.least_cmake(facts.project) if tool == "cmake" else ()
    fitting = [each for each in CMAKE_OF if each in facts.available and CMAKE_OF[each] >= least]
    if fitting and tool == "cmake" and recipe.toolchain not in fitting:
        recipe = recipe.model_copy(update={"toolchain": fitting[0]})
    return add_trees(recipe, tool, facts)


def choose_commands(facts: Facts) -> str:
    """Return the key of the tool's commands; autotools without automake only have a target for tests."""
    tool = manifests.choose_tool(facts.project)
    automake = any(path.rpartition("/")[2] == "Makefile.am" for path in facts.project.paths)
    return "configure" if tool == "autotools" and not automake else tool


def add_trees(recipe: Recipe, tool: str, facts: Facts) -> Recipe:
    """Put the trees of other repositories where the build looks for them; Debian's packages stand for those not had."""
    wanted = manifests.list_other_trees(facts.project)
    placed, install, options = list(manifests.select_placed(wanted, facts.trees)), list[str](), list[str]()
    for tree in placed:
        if tree.name == manifests.CPM.name:
            script = f"{SOURCES}/cpm/CPM_{tree.ref}.cmake"
            packed = f"/opt/downloads/{manifests.download_path(tree)}"
            install.append(f"mkdir -p {SOURCES}/cpm && tar -xOf {packed} cmake/CPM.cmake > {script}")
            options += [f"-DCPM_SOURCE_CACHE={SOURCES}", "-DCPM_USE_LOCAL_PACKAGES=ON"]
            continue
        folder = tree.path or f"{SOURCES}/{tree.name.lower()}"
        install.append(f"mkdir -p {folder} && tar -xf /opt/downloads/{manifests.download_path(tree)} -C {folder}")
        if not tree.path:
            options += [f"-DFETCHCONTENT_SOURCE_DIR_{tree.name.upper()}={folder}", f"-DCPM_{tree.name}_SOURCE={folder}"]
    known = load_providers().libraries
    packages = [known[each.name.lower()] for each in wanted if each not in placed and each.name.lower() in known]
    if tool == "cmake" and any(not each.path for each in wanted):
        options += ["-DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS"] if packages else []
    own = recipe.install or (INSTALL_CMAKE if install else ())
    return recipe.model_copy(
        update={
            "downloads": facts.trees,
            "install": (*install, *own),
            "options": (*recipe.options, *options),
            "system_packages": tuple(dict.fromkeys((*recipe.system_packages, *packages))),
        }
    )
