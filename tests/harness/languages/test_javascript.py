from fnmatch import fnmatchcase

import pytest

from assay.harness.languages import javascript


@pytest.mark.parametrize(
    "path",
    [
        "test/calc.js",
        "test/unit/adapters/http.js",
        "hooks/test/browser/use.test.js",
        "packages/core/__tests__/parse.spec.ts",
        "src/calc.test.tsx",
        "src/calc.spec.mjs",
        "src/__snapshots__/calc.test.js.snap",
        "packages/core/test/fixtures/a/input.js",
        "spec/calc-spec.js",
        "tests/cards/card.test.jsx",
        "test/specs/plugin.legend.tests.js",
        "types/index.test-d.ts",
        "cypress/login.js",
        "src/__mocks__/fs.js",
        "test.js",
        "src/calc_test.js",
        "test/fixtures/bar.png",
    ],
)
def test_test_files(path: str) -> None:
    assert javascript.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/calc.js",
        "index.d.ts",
        "lib/core/latest.js",
        "src/test/client.js",
        "lib/spec/openapi.js",
        "test-utils/src/index.js",
        "src/contest.js",
        ".github/workflows/test.yml",
        "docs/specs.md",
        "packages/spec-tools/index.js",
    ],
)
def test_other_files(path: str) -> None:
    assert not javascript.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "package.json",
        "packages/core/package.json",
        "package-lock.json",
        ".npmrc",
        ".yarnrc.yml",
        ".yarn/releases/yarn-4.cjs",
        ".pnp.cjs",
        "jest.config.js",
        "packages/core/jest.config.e2e.ts",
        "jest.setup.js",
        "jest-preset.json",
        "vitest.config.mjs",
        "vitest.workspace.ts",
        "vite.config.ts",
        "karma.conf.cjs",
        "karma.sauce.conf.js",
        ".mocharc.yml",
        ".babelrc",
        "babel.config.json",
        "packages/core/.babelrc.js",
        "build/rollup.config.js",
        "webpack.config.js",
        "ava.config.js",
        "Gruntfile.js",
        "gulpfile.js",
        "tsconfig.json",
        "tsconfig.test.json",
        "src/setupTests.ts",
        "test-setup.js",
        "playwright.config.ts",
    ],
)
def test_runner_config(path: str) -> None:
    assert javascript.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/index.js",
        "src/app.config.ts",
        "lib/jest-runner.js",
        "packages/core/src/vitest.config.loader.ts",
        "README.md",
        "index.d.ts",
        "src/package.js",
        "lib/config.js",
    ],
)
def test_no_runner_config(path: str) -> None:
    assert not javascript.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "node_modules",
        "node_modules/jest/index.js",
        "packages/core/node_modules/a/package.json",
        "build/addon.node",
    ],
)
def test_build_products(path: str) -> None:
    assert any(fnmatchcase(path, pattern) for pattern in javascript.BUILD_PRODUCTS)


@pytest.mark.parametrize(
    "path",
    [
        "src/node_modules.js",
        "dist/index.js",
        "lib/core.js",
    ],
)
def test_no_build_products(path: str) -> None:
    assert not any(fnmatchcase(path, pattern) for pattern in javascript.BUILD_PRODUCTS)


def test_modules_to_run() -> None:
    paths = [
        "test/unit/calc.js",
        "test/fixtures/data.js",
        "test/data.json",
        "src/calc.test.ts",
        "src/types.d.ts",
        "src/calc.js",
        "src/__mocks__/fs.js",
        "src/fixtures/odd.test.js",
        "src/calc.test.ts",
    ]
    assert javascript.test_targets(paths) == ("test/unit/calc.js", "src/calc.test.ts", "src/fixtures/odd.test.js")


def test_snapshot_stands_for_its_module() -> None:
    assert javascript.test_targets(["src/__snapshots__/calc.test.ts.snap"]) == ("src/calc.test.ts",)


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("adds numbers (12 ms)", "adds numbers"),
        ("adds numbers (1.2 s)", "adds numbers"),
        ("adds numbers 12ms", "adds numbers"),
        ("waits for 12 items", "waits for 12 items"),
        ("waits (12 ms) and goes on", "waits (12 ms) and goes on"),
    ],
)
def test_durations_are_not_part_of_a_name(printed: str, name: str) -> None:
    assert javascript.normalise(printed) == name
