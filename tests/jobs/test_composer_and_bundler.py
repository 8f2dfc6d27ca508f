"""Packages that Composer and Bundler fetch from indexes on this machine: of the date, offline, locked, built again."""

from pathlib import Path
from uuid import uuid4

import pytest

from assay.harness.domain import Instance
from assay.harness.engines.docker import DockerEngine
from languages.hello import CREATED, Hello
from local_indexes import serve, write_composer_repository, write_gem_index
from rebuilt import build_twice

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.slow, pytest.mark.xdist_group("build")]
CHECK = "require 'calc'\nputs '%s 1 - {name}' % (({body}) ? 'ok' : 'not ok')\n"
RUBY = Hello(
    language="ruby",
    recipe={
        "uses_index": True,
        "test_command": "for file in test/*.rb; do /opt/assay/with_gems /usr/bin/ruby -Ilib $file; done > /tmp/tap\n"
        "cat /tmp/tap; cat /tmp/tap > {report}; ! grep -q ^not /tmp/tap",
        "report_format": "tap",
        "log_format": "tap",
        "test_id": "node",
    },
    files={
        "Gemfile": 'source "https://rubygems.org"\ngem "pebble"  # TOKEN\n',
        "lib/calc.rb": "require 'pebble'\ndef version() 'none' end\n",
        "test/runs.rb": CHECK.format(name="runs", body="Pebble::VERSION.start_with?('1')"),
    },
    tests={},
    fix={"lib/calc.rb": "require 'pebble'\ndef version() Pebble::VERSION end\n"},
    test_change={"test/more.rb": CHECK.format(name="names", body="version == '1.1.0'")},
    fixed=("names",),
    kept=("runs",),
)
PHP_TEST = "<?php\nclass {name}Test extends PHPUnit\\Framework\\TestCase {{ function test{name}() {{ {body} }} }}\n"
PHP = Hello(
    language="php",
    recipe={"uses_index": True, "test_id": "node"},
    files={
        "composer.json": '{"name": "a/TOKEN", "require": {"acme/pebble": "*"}, "autoload": {"classmap": ["src/"]}}',
        "src/Calc.php": "<?php\nnamespace Calc;\nclass Calc { const VERSION = 'none'; }\n",
        "tests/RunsTest.php": PHP_TEST.format(
            name="Runs", body="$this->assertStringStartsWith('1', Acme\\Pebble::VERSION);"
        ),
    },
    tests={},
    fix={"src/Calc.php": "<?php\nnamespace Calc;\nclass Calc { const VERSION = \\Acme\\Pebble::VERSION; }\n"},
    test_change={
        "tests/MoreTest.php": PHP_TEST.format(name="More", body="$this->assertSame('1.1.0', Calc\\Calc::VERSION);")
    },
    fixed=("MoreTest::testMore",),
    kept=(),
)
MANIFESTS = {"ruby": "Gemfile", "php": "composer.json"}
INDEXES = {"ruby": "BUNDLE_MIRROR__ALL", "php": "COMPOSER_MIRROR"}


def make_instance(project: Hello, mirrors: Path) -> Instance:
    """Return an instance of a time between the releases, which no image of an earlier run serves.

    Their locks have the address of that run's index.
    """
    manifest = MANIFESTS[project.language]
    files = {**project.files, manifest: project.files[manifest].replace("TOKEN", uuid4().hex)}
    project = project.model_copy(update={"files": files})
    instance = project.instance("dated", project.make_repository(mirrors))
    return instance.model_copy(update={"created_at": CREATED.replace(year=2023)})


@pytest.mark.parametrize(
    "project", [pytest.param(each, id=each.language, marks=each.toolchain) for each in (RUBY, PHP)]
)
def test_versions_of_the_date_are_fetched_locked_and_built_again(
    project: Hello, docker_engine: DockerEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = make_instance(project, tmp_path / "mirrors")
    (tmp_path / "index").mkdir()
    with serve(tmp_path / "index") as url:
        monkeypatch.setenv(INDEXES[project.language], url)
        write_gem_index(tmp_path / "index")
        write_composer_repository(tmp_path / "index", url)
        lock, before, after = build_twice(instance, docker_engine, tmp_path, monkeypatch)
    held = [lock.get_texts(layer.contents).get("packages", "") for layer in lock.layers.values() if layer.dockerfile]
    assert any("pebble" in text and "1.1.0" in text and "2.0.0" not in text for text in held), held
    assert [outcome for _, outcome, _ in before] == ["unresolved", "resolved"], before
    assert after == before
