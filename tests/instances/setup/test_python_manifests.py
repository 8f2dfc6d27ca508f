from assay.instances.setup.python_manifests import read_declared

PYPROJECT = """\
[project]
requires-python = ">=3.7"
dependencies = ["click>=7"]
classifiers = ["Programming Language :: Python :: 3.7", "Programming Language :: Python :: 3.8"]
[project.optional-dependencies]
test = ["pytest-mock"]
[dependency-groups]
dev = [{include-group = "typing"}, "ruff"]
typing = ["mypy"]
[build-system]
requires = ["setuptools_scm[toml]"]
[tool.pytest.ini_options]
markers = [" network: needs it", "slow"]
testpaths = ["tests/"]
"""


def test_pyproject_names_versions_extras_groups_and_markers(project) -> None:
    found = read_declared(project({"pyproject.toml": PYPROJECT}))
    assert (found.requires, found.versions) == (">=3.7", ("3.7", "3.8"))
    assert found.dependencies == ("click>=7",)
    assert found.extras == {"test": ("pytest-mock",)}
    assert found.groups["dev"] == ("mypy", "ruff")
    assert found.from_tags
    assert (found.markers, found.folders) == (("network",), ("tests",))


def test_setup_script_is_read_and_never_run(project, tmp_path) -> None:
    script = f"""
open({str(tmp_path / "run")!r}, "w")
TESTS = ["pytest", "mock"] + ["nose"]
EXTRAS = {{"test": TESTS}}
EXTRAS["docs"] = ["sphinx"]
setup(name=compute(), python_requires=">=3.6", extras_require=EXTRAS, tests_require=TESTS,
      install_requires="six\\nattrs", setup_requires=["cffi"])
"""
    found = read_declared(project({"setup.py": script}))
    assert not (tmp_path / "run").exists()
    assert found.requires == ">=3.6"
    assert found.extras == {"test": ("pytest", "mock", "nose"), "docs": ("sphinx",)}
    assert found.groups == {"test": ("pytest", "mock", "nose")}
    assert (found.dependencies, found.to_build) == (("six", "attrs"), ("cffi",))
    assert not found.from_tags


def test_setup_cfg_and_tox_are_read(project) -> None:
    cfg = "[options]\ninstall_requires =\n  six\n  # a comment\n[options.extras_require]\ntesting =\n  pytest\n"
    tox = "[testenv]\ndeps =\n  mock\n  py27: enum34\n  -r{toxinidir}/requirements/test.txt\n[pytest]\ntestpaths = t\n"
    found = read_declared(project({"setup.cfg": cfg, "tox.ini": tox}))
    assert (found.dependencies, found.extras) == (("six",), {"testing": ("pytest",)})
    assert (found.groups, found.files, found.folders) == ({"test": ("mock",)}, ("requirements/test.txt",), ("t",))


def test_poetrys_bounds_become_plain_ones(project) -> None:
    text = """\
[tool.poetry.dependencies]
python = "^3.8"
httpx = {version = "~0.20", extras = ["http2"]}
local = {path = "../local"}
[tool.poetry.group.test.dependencies]
pytest = "^7.0"
mock = "*"
exact = "1.2"
[tool.poetry.dev-dependencies]
tox = ">=3,<4"
"""
    found = read_declared(project({"pyproject.toml": text}))
    assert found.requires == ">=3.8"
    assert found.dependencies == ("httpx[http2]>=0.20",)
    assert found.groups == {"test": ("pytest>=7.0", "mock", "exact==1.2"), "dev": ("tox>=3,<4",)}


def test_broken_manifests_declare_nothing(project) -> None:
    broken = {"pyproject.toml": "[", "setup.py": "def", "setup.cfg": "no section", "tox.ini": "[a\n"}
    found = read_declared(project(broken))
    assert (found.requires, found.extras, found.groups, found.from_tags) == ("", {}, {}, False)
