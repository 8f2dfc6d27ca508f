"""Real things to load from, made on the spot: a package index's folder, archives and git repositories."""

import base64
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.harness.domain import Archive


@dataclass
class Index:
    """A folder that is served as a package index."""

    folder: Path
    url: str = ""
    links: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[dict[str, object]]] = field(default_factory=dict)

    def add(self, name: str, version: str, files: Mapping[str, str | bytes], date: str = "", **more: object) -> Archive:
        """Publish a release with these files and return its name; with a date, in the JSON form of an index."""
        archive = make_archive(f"{name}-{version}", files)
        digest = hashlib.sha256(archive).hexdigest()
        (self.folder / "files").mkdir(exist_ok=True)
        (self.folder / "files" / f"{name}-{version}.tar.gz").write_bytes(archive)
        links = self.links.setdefault(name, [])
        links.append(f'<a href="../../files/{name}-{version}.tar.gz#sha256={digest}">{name}-{version}.tar.gz</a>')
        page = self.folder / "simple" / name
        page.mkdir(parents=True, exist_ok=True)
        (page / "index.html").write_text("<html><body>" + "<br/>".join(links) + "</body></html>")
        if date:
            file = f"{name}-{version}.tar.gz"
            about = {"filename": file, "url": f"../../files/{file}", "hashes": {"sha256": digest}, "upload-time": date}
            self.files.setdefault(name, []).append(about | more)
            (page / "index.json").write_text(json.dumps({"meta": {"api-version": "1.1"}, "files": self.files[name]}))
        return Archive(name=name, version=version, sha256=digest)


@dataclass
class GoProxy:
    """A folder that the go command can use as a module proxy."""

    folder: Path

    def add(
        self, name: str, version: str, files: Mapping[str, str | bytes], date: str = "2020-01-02T03:04:05Z"
    ) -> Archive:
        """Publish a version of a module with these files and return its name."""
        archive = make_zip({f"{name}@{version}/{path}": content for path, content in files.items()})
        escaped = re.sub("[A-Z]", lambda letter: f"!{letter[0].lower()}", name)
        at = self.folder / escaped / "@v"
        at.mkdir(parents=True, exist_ok=True)
        (at / f"{version}.zip").write_bytes(archive)
        (at / f"{version}.mod").write_text(str(files.get("go.mod", f"module {name}\n")))
        (at / f"{version}.info").write_text(json.dumps({"Version": version, "Time": date}))
        known = (at / "list").read_text() if (at / "list").is_file() else ""
        (at / "list").write_text(f"{known}{version}\n")
        return Archive(index="go", name=name, version=version, sha256=hashlib.sha256(archive).hexdigest())


@dataclass
class CrateIndex:
    """A folder that is served as a crate registry."""

    folder: Path
    url: str
    lines: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self, name: str, version: str, files: Mapping[str, str | bytes], date: str = "", *, yanked: bool = False
    ) -> Archive:
        """Publish a crate with these files and return its name, which has at least four letters."""
        manifest = f'[package]\nname = "{name}"\nversion = "{version}"\n'
        archive = make_archive(f"{name}-{version}", {"Cargo.toml": manifest, "src/lib.rs": "", **files})
        digest = hashlib.sha256(archive).hexdigest()
        (self.folder / "crates").mkdir(exist_ok=True)
        (self.folder / "crates" / f"{name}-{version}.crate").write_bytes(archive)
        line = {"name": name, "vers": version, "deps": [], "cksum": digest, "features": {}, "yanked": yanked}
        line |= {"pubtime": date} if date else {}
        self.lines.setdefault(name, []).append(json.dumps(line) + "\n")
        at = self.folder / "crate-index" / name[:2] / name[2:4] / name
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text("".join(self.lines[name]))
        config = {"dl": f"{self.url}/crates/{{crate}}-{{version}}.crate"}
        (self.folder / "crate-index" / "config.json").write_text(json.dumps(config))
        return Archive(index="crates", name=name, version=version, sha256=digest)


@dataclass
class NpmRegistry:
    """A folder that is served as a registry of npm packages."""

    folder: Path
    url: str

    def add(self, name: str, version: str, files: Mapping[str, str | bytes], date: str) -> Archive:
        """Publish a version of a package with these files and return its name."""
        manifest = {"name": name, "version": version}
        archive = make_archive("package", {"package.json": json.dumps(manifest), **files})
        at = self.folder / "npm"
        at.mkdir(exist_ok=True)
        (at / f"{name}-{version}.tgz").write_bytes(archive)
        page = at / name
        known: dict[str, Any] = {"name": name, "versions": {}, "time": {}}
        if page.is_file():
            known = json.loads(page.read_text())
        digest = base64.b64encode(hashlib.sha512(archive).digest()).decode()
        dist = {"tarball": f"{self.url}/{name}-{version}.tgz", "integrity": f"sha512-{digest}"}
        known["versions"][version] = {**manifest, "dist": dist}
        known["time"][version] = date
        known["dist-tags"] = {"latest": version}
        page.write_text(json.dumps(known))
        return Archive(index="npm", name=name, version=version, sha256=hashlib.sha256(archive).hexdigest())


def make_zip(files: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, content in files.items():
            packed.writestr(path, content)
    return buffer.getvalue()


def make_archive(top: str, files: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size = len(data)
            member.mode = 0o755 if path.endswith(".sh") else 0o644
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


@dataclass
class Repository:
    """A git repository with a work tree."""

    folder: Path

    def git(self, *args: str, env: Mapping[str, str] | None = None) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false"]
        done = subprocess.run(
            ["git", *who, *args], cwd=self.folder, env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, message: str = "state", date: str = "2023-01-01T00:00:00Z") -> str:
        """Commit the work tree as of a date, by default the day before ``toy``'s instances; return the commit's id."""
        self.git("add", "--all", "--force")
        env = {**os.environ, "GIT_COMMITTER_DATE": date}
        self.git("commit", "--quiet", "--allow-empty", "-m", message, env=env)
        return self.git("rev-parse", "HEAD")
