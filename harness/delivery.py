"""What goes into a container before the tests run: the patches, what is put back, and the scripts. Pure."""

import io
import shlex
import tarfile
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assay.harness.canary import PLACEHOLDER, Canary
from assay.harness.domain import Instance, TestPlan
from assay.harness.languages import LANGUAGES
from assay.harness.patch import GatedPatch, touched_paths

HOME = "/assay"
"""Folder in the container that holds what the harness delivers; only root can write there."""
APPLY, TEST = f"{HOME}/apply.sh", f"{HOME}/test.sh"
EVERYWHERE = (".gitattributes",)
"""Put back for every language: it changes what git writes when the tests are restored."""
CONFLICT, TESTS_DO_NOT_APPLY = 3, 4
"""Exit statuses of the apply script; everything else but 0 is a failure of the infrastructure."""
GIT = "git -c core.hooksPath=/dev/null -c core.autocrlf=false -c safe.directory='*'"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One patch on its way to the tests of one instance.

    ``restore`` lists paths that come from the base commit or are removed: the test patch's own and what steers the
    runner. ``keep`` lists other test files of the patch: those that the base commit has come from there, new ones stay.
    ``left_out`` are patterns of paths that are never applied.
    """

    plan: TestPlan
    patch: GatedPatch
    canary: Canary | None
    restore: tuple[str, ...]
    keep: tuple[str, ...]
    left_out: tuple[str, ...]
    flags: tuple[str, ...]

    def archive(self) -> bytes:
        """Return everything as one tar archive, owned by root."""
        home = HOME.strip("/")
        files = {
            f"{home}/model.patch": self.patch.text,
            f"{home}/tests.patch": self.plan.test_patch,
            f"{home}/restore": "".join(f"{path}\0" for path in self.restore),
            f"{home}/keep": "".join(f"{path}\0" for path in self.keep),
            APPLY.strip("/"): self.apply_script(),
            TEST.strip("/"): self.plan.command.replace(PLACEHOLDER, self.canary.path if self.canary else ""),
        }
        if self.canary:
            files[f"{self.plan.workdir.strip('/')}/{self.canary.path}"] = self.canary.text
        return _tar(home, files)

    def apply_script(self) -> str:
        """Return the shell text that applies the patch, puts back what must be, and applies the test patch.

        It runs as the tests' user before any code of the patch has run. That the test patch does not fit is the
        instance's fault only if it does not fit the base commit.
        """
        tests, model = f"{HOME}/tests.patch", f"{HOME}/model.patch"
        lines = ["set -u"]
        if self.plan.test_patch:
            lines.append(f"{GIT} apply --check --whitespace=nowarn {tests} || exit {TESTS_DO_NOT_APPLY}")
        if not self.patch.is_empty:
            without = "".join(f" --exclude={shlex.quote(pattern)}" for pattern in self.left_out)
            lines.append(f"{GIT} apply --whitespace=nowarn{without} {model} || exit {CONFLICT}")
        if self.restore or self.keep:
            lines += _put_back()
        if self.plan.test_patch:
            lines.append(f"{GIT} apply --whitespace=nowarn {tests} || exit {CONFLICT}")
        if self.plan.report_path:
            lines.append(f"mkdir -p {shlex.quote(self.plan.report_path.rpartition('/')[0] or '/')}")
        return "\n".join([*lines, "exit 0", ""])


def make_delivery(instance: Instance, plan: TestPlan, patch: GatedPatch, canary: Canary | None) -> Delivery:
    """Decide what of a patch is applied, and what is put back afterwards.

    What the gold patch touches stays as the patch has it, since the fix may need it.
    """
    language = LANGUAGES.get(instance.language)
    theirs = {*touched_paths(instance.gold_patch), *touched_paths(instance.test_patch)}
    own = [path for path in patch.paths if path not in theirs]
    steering = tuple(
        path
        for path in own
        if path.rpartition("/")[2] in EVERYWHERE or (language is not None and language.runner_config(path))
    )
    left_out = language.BUILD_PRODUCTS if language else ()
    flags = {
        "tests_ran_as_root": plan.user == "root",
        "runner_configuration_put_back": bool(steering),
        "build_products_left_out": any(fnmatchcase(path, each) for path in patch.paths for each in left_out),
    }
    return Delivery(
        plan=plan,
        patch=patch,
        canary=canary,
        restore=(*plan.restore, *steering),
        keep=tuple(path for path in own if language is not None and language.is_test_file(path)),
        left_out=left_out,
        flags=tuple(name for name, holds in flags.items() if holds),
    )


def _put_back() -> list[str]:
    paths, base = "/tmp/assay-paths", "/tmp/assay-base"
    git = f"{GIT} --literal-pathspecs"
    return [
        f"cat {HOME}/restore {HOME}/keep > {paths}",
        f"xargs -0 {git} ls-tree -r -z --name-only HEAD -- < {paths} > {base}",
        f"cat {HOME}/restore {base} > {paths}",
        # All of them first, so that no planted attributes steer git when it writes them.
        f"[ ! -s {paths} ] || xargs -0 rm -rf -- < {paths}",
        f"[ ! -s {base} ] || {git} checkout -q HEAD --pathspec-from-file={base} --pathspec-file-nul || exit {CONFLICT}",
        f"rm -f {base} {paths}",
    ]


def _tar(folder: str, files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        entry = tarfile.TarInfo(folder)
        entry.type, entry.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(entry)
        for name, text in files.items():
            content = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
