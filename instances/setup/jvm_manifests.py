"""What the build files of Maven, Gradle and Ant say that set-up needs. Pure: nothing is run."""

import re
from collections.abc import Iterable

from assay.instances.setup.project import Project

VERSION = r"(?:1\.)?(\d+)"
DECLARED = (
    rf"<(?:maven\.compiler\.)?(?:release|source|target|testRelease)>\s*{VERSION}(?:\.0)?\s*<",
    rf"<(?:[\w.-]*\.)?(?:java|jdk|javac)[\w.-]*(?:version|release|source|target|level|[Vv]ersion)\w*>\s*{VERSION}(?:\.0)?\s*<",
    rf"<(?:kotlin\.compiler\.)?jvmTarget>\s*{VERSION}\s*<",
    rf"(?:source|target)Compatibility\s*=?\s*(?:JavaVersion\.toVersion\()?['\"]?(?:JavaVersion\.VERSION_(?:1_)?)?{VERSION}\b",
    rf"(?:jvmToolchain|JavaLanguageVersion\.of|options\.release\.set)\s*\(?\s*['\"]?{VERSION}\b",
    rf"(?:options\.release|jvmTarget)\s*=\s*(?:JvmTarget\.JVM_(?:1_)?)?['\"]?{VERSION}\b",
    rf"\b(?:source|target|release)=['\"]{VERSION}['\"]",
)
"""Patterns of build files for the version of Java that they compile for."""
NAMED = (rf"^\s*java=\s*{VERSION}\b", rf"^\s*(?:[a-z]+-)?{VERSION}(?:\.\d+)*\s*$")
ROOT_FILES = ("pom.xml", "build.gradle", "build.gradle.kts", "gradle.properties", "build.xml", "gradle/*.toml")
NEWEST = 40  # a number above is no version of Java


def find_release(project: Project) -> int:
    """Return the latest version of Java that the build files compile for, those in the root folder first; 0: none."""
    everywhere = ("*pom.xml", "*.gradle", "*.gradle.kts", "*build.xml")
    for patterns in (ROOT_FILES, everywhere):
        found = _read_versions((text for _, text in project.matching(*patterns)), DECLARED)
        if found:
            return max(found)
    return 0


def read_version_files(project: Project) -> list[int]:
    """Return the versions in the files by which version managers choose."""
    return _read_versions((text for _, text in project.matching(".java-version", ".sdkmanrc")), NAMED)


def names_artifact(project: Project, artifact: str) -> bool:
    """Return whether a project of Maven names an artifact, such as a plug-in."""
    return any(f"<artifactId>{artifact}</artifactId>" in text for _, text in project.matching("*pom.xml"))


def _read_versions(texts: Iterable[str], patterns: Iterable[str]) -> list[int]:
    joined = "\n".join(texts)
    found = (int(match[1]) for each in patterns for match in re.finditer(each, joined, re.MULTILINE))
    return [each for each in found if 4 < each < NEWEST]


def choose_tool(project: Project) -> str:
    """Return the build tool whose file is in the root folder: ``maven``, ``gradle`` or ``ant``."""
    if "pom.xml" in project.paths:
        return "maven"
    if {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"} & {*project.paths}:
        return "gradle"
    return "ant" if "build.xml" in project.paths else "maven"


def find_ant_target(project: Project) -> str:
    """Return the target of Ant that runs the tests, by its name."""
    targets = re.findall(r"<target\b[^>]*?\bname=\"([\w.-]+)\"", project.text("build.xml"))
    usual = ("test", "tests", "junit", "run-tests", "unit-test", "check")
    return next((name for name in usual if name in targets), "test")
