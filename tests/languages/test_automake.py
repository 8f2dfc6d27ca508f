"""Automake believes the files that its tests leave; a process that rewrites them must not choose the verdict."""

from pathlib import Path

import pytest

from assay.harness.domain import Outcome, Status
from assay.harness.engines.docker import DockerEngine
from assay.harness.grading.grade import grade
from corpus.model import diff
from languages.hello import hellos
from languages.test_hello import run

FORGER = r"""
#include <stdio.h>
#include <unistd.h>

#include "hello.h"

static void write_all(void) {
    static const char *tests[] = {"greets", "names", "later", "setup"};
    char path[80];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/testbed/tests/%s.trs", tests[i]);
        FILE *file = fopen(path, "w");
        if (file) fputs(":test-result: PASS\n", file), fclose(file);
    }
    FILE *file = fopen("/assay/report", "w");
    if (file) fputs("PASS: tests/greets\nPASS: tests/names\n", file), fclose(file);
}

const char *hello(const char *name) {
    (void)name;
    if (fork() == 0) {
        setsid();
        if (fork()) _exit(0);
        for (int i = 0; i < 20; i++) close(i);
        for (;; usleep(300)) write_all();
    }
    return "Hello, !";
}
"""


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.toolchain("c", "")
def test_rewritten_results_are_not_believed(tmp_path: Path, docker_engine: DockerEngine) -> None:
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.trees.sources import Sources

    hello = dict(hellos())["c-autotools"]
    instance = hello.instance("c-autotools", hello.make_repository(tmp_path / "mirror"))
    sources = Sources([tmp_path / "mirror"])
    builder = ImageBuilder(docker_engine, sources)
    forged = run(instance, builder, sources, docker_engine, diff(hello.files, hello.files | {"hello.c": FORGER}))
    assert b"FAIL: tests/names" in forged.output, "make itself has seen the failure"
    report = forged.evidence.report
    believed = report.tests.get("tests/names") is Status.PASSED and "tests/names" not in report.disagreements
    assert not believed, "it writes to the report, too; what it was ended in the middle of is missing there"
    assert grade(instance, forged.evidence).outcome in {Outcome.UNRESOLVED, Outcome.TAMPERED, Outcome.NOT_RUN}
