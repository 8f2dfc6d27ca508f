"""The repository that stands between Maven and the central one, in a container with Java, in front of a toy."""

import re
from collections.abc import Iterator
from hashlib import sha1, sha256
from pathlib import PurePosixPath

import pytest

import toolchains
from assay.harness.engines.base import Box, BoxSpec
from assay.harness.engines.tars import pack_tar
from assay.instances.toolchains.buildfiles import fetch_texts

pytestmark = [pytest.mark.docker, pytest.mark.toolchain("java", "17")]
VERSIONS = {"1.0": "2010-01-01", "1.1": "2014-01-01", "2.0": "2020-01-01"}
LIST = "<metadata><versioning><latest>2.0</latest><release>2.0</release><versions>{}</versions></versioning></metadata>"
ALL = LIST.format("".join(f"<version>{version}</version>" for version in VERSIONS))
TOY = """
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.file.*;
import java.time.*;
import java.time.format.DateTimeFormatter;

public class Toy {
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 8000), 0);
        server.createContext("/", exchange -> {
            Path file = Path.of("/repository" + exchange.getRequestURI().getPath());
            boolean found = Files.isRegularFile(file);
            if (found) exchange.getResponseHeaders().set("Last-Modified", DateTimeFormatter.RFC_1123_DATE_TIME.format(
                Files.getLastModifiedTime(file).toInstant().atZone(ZoneOffset.UTC)));
            boolean sends = found && exchange.getRequestMethod().equals("GET");
            exchange.sendResponseHeaders(found ? 200 : 404, sends ? Files.size(file) : -1);
            if (sends) exchange.getResponseBody().write(Files.readAllBytes(file));
            exchange.close();
        });
        server.start();
    }
}
"""
ANSWERS = "for _ in $(seq 300); do {} && break; sleep 0.1; done"


@pytest.fixture(params=["2014-12-04", "2026-01-01"], ids=["true dates", "dates of copies"])
def box(request: pytest.FixtureRequest, docker_engine) -> Iterator[Box]:
    """A box with Java and a repository of a/b in three versions."""
    dated = {"junit/junit/4.12/junit-4.12.pom": request.param}
    dated |= {f"a/b/{version}/b-{version}.pom": date for version, date in VERSIONS.items()}
    files = {f"repository/{path}": f"{path}\n" for path in dated} | {"repository/a/b/maven-metadata.xml": ALL}
    files |= {f"build/{name}": text for name, text in {**fetch_texts("java"), "Toy.java": TOY}.items()}
    folders = [str(parent)[1:] for name in files for parent in PurePosixPath(f"/{name}").parents][::-1]
    image = toolchains.toolchain_image(docker_engine, "java", "17")
    with docker_engine.open(BoxSpec(image)) as opened:
        opened.put(pack_tar(files, [folder for folder in dict.fromkeys(folders) if folder]))
        touched = "\n".join(f"touch -d {date} /repository/{path}" for path, date in dated.items())
        serve = "java /build/Toy.java > /tmp/toy 2>&1 &"
        run(opened, touched, serve, ANSWERS.format("(exec 3<> /dev/tcp/127.0.0.1/8000) 2> /dev/null"))
        yield opened


def run(box: Box, *lines: str) -> str:
    done = box.exec(["bash", "-c", "\n".join(lines)], seconds=120)
    return done.output.decode()


def ask(box: Box, bound: str, *paths: str, cache: str = "") -> list[str]:
    """Return what the repository answers to each path: the status and the body."""
    connect = "exec 3<> /dev/tcp/127.0.0.1/$(cat /tmp/port)"
    asked = connect + r"; printf 'GET /{} HTTP/1.0\r\n\r\n' >&3; cat <&3; echo; echo @@"
    said = run(
        box,
        f"java /build/Central.java http://127.0.0.1:8000/ {bound} /tmp/note /tmp/port {cache} > /tmp/log 2>&1 &",
        ANSWERS.format("[ -s /tmp/port ]"),
        *(asked.format(path) for path in paths),
    )
    answers = said.replace("\r", "").split("@@\n")[: len(paths)]
    return [re.sub(r"HTTP/1.. (\d+).*?\n\n", r"\1 ", answer, flags=re.DOTALL).strip() for answer in answers]


def note(box: Box) -> str:
    return box.get("/tmp/note", 10_000).get("note", b"").decode()


def test_versions_of_a_day_are_known_if_the_repository_knows_them(box: Box, request: pytest.FixtureRequest) -> None:
    """The dates of its own copies, which a mirror may give, are none."""
    versions, file, hashes = ask(
        box, "2015-06-01T00:00:00Z", "a/b/maven-metadata.xml", "a/b/2.0/b-2.0.pom", "a/b/maven-metadata.xml.sha1"
    )

    assert file == "200 a/b/2.0/b-2.0.pom"  # what a build file names is had
    assert hashes.startswith("404")
    if "true dates" in request.node.name:
        old = LIST.format("<version>1.0</version><version>1.1</version>").replace("2.0", "1.1")
        assert (versions, note(box)) == (f"200 {old}", "")
    else:
        assert versions == f"200 {ALL}"
        assert note(box).startswith("the repository does not say when artifacts came out: a/b is the newest of 20")


def test_a_lock_has_its_own_files_only(box: Box) -> None:
    held = sha256(b"a/b/1.0/b-1.0.pom\n").hexdigest()
    lock = f"a/b/1.0/b-1.0.pom sha256:{held}\na/b/1.1/b-1.1.pom sha256:{'0' * 64}\n"
    box.put(pack_tar({"build/artifacts.txt": lock}))

    versions, same, other, unknown = ask(
        box,
        "/build/artifacts.txt",
        *("a/b/maven-metadata.xml", "a/b/1.0/b-1.0.pom", "a/b/1.1/b-1.1.pom", "a/b/2.0/b-2.0.pom"),
    )

    assert versions == "200 " + LIST.format("<version>1.0</version><version>1.1</version>").replace("2.0", "1.1")
    assert same == "200 a/b/1.0/b-1.0.pom"
    assert other.startswith("502")
    assert unknown.startswith("404")
    assert b"another file than the lock's" in box.get("/tmp/log", 10_000)["log"]


def test_a_file_serves_later_builds_and_its_hash_is_not_asked_for(box: Box) -> None:
    path, day = "a/b/2.0/b-2.0.pom", "2026-01-01T00:00:00Z"

    file, its_hash = ask(box, day, path, f"{path}.sha1", cache="/tmp/cache")
    run(box, f"rm /tmp/port /repository/{path}")

    assert (file, its_hash) == (f"200 {path}", "200 " + sha1(f"{path}\n".encode()).hexdigest())
    assert ask(box, day, path, "a/b/1.0/b-1.0.jar", cache="/tmp/cache") == [f"200 {path}", "404"]
