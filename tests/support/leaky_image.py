"""The corpus's small Python project as an image that leaks its future on purpose."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from assay.harness.engines.docker import DockerEngine
from corpus.stage import Place

NAME = "calc"
FUTURE = "FIXED_IN_THE_FUTURE"
"""Stands in everything that tells of the fix."""
LEAKS = f"""\
set -eu
cd /testbed
export GIT_AUTHOR_NAME=d GIT_AUTHOR_EMAIL=d@d GIT_COMMITTER_NAME=d GIT_COMMITTER_EMAIL=d@d
git config core.logAllRefUpdates true
base=$(git rev-parse HEAD)
echo '# {FUTURE} later commit' >> README.txt
git commit --quiet --all --message '{FUTURE} fixes the sums'
later=$(git rev-parse HEAD)
git tag -a -m '{FUTURE}' v2
git branch future-{FUTURE}
git update-ref refs/remotes/origin/{FUTURE} "$later"
git remote add origin https://example.invalid/{FUTURE}
printf '%s\\t\\tbranch main of {FUTURE}\\n' "$later" > .git/FETCH_HEAD
echo '# {FUTURE} stashed' >> README.txt
git stash --quiet
git reset --quiet --hard "$base"
git repack -a -d -q
echo '{FUTURE} dangling' | git hash-object -w --stdin
mkdir -p /tmp/elsewhere && git init --quiet --bare /tmp/elsewhere
echo /tmp/elsewhere/objects > .git/objects/info/alternates
echo '{FUTURE} alternate' | git --git-dir=/tmp/elsewhere hash-object -w --stdin
echo '{FUTURE}' > /home/fix.patch
mkdir -p /root/.cache/pip /home/assay/.cache/pip
echo '{FUTURE}' | tee /root/.cache/pip/calc-2 > /home/assay/.cache/pip/calc-2
chown -R assay: /testbed /tmp/elsewhere /home/assay
"""


@dataclass(frozen=True, slots=True)
class World:
    """The project's instance, an image of it that leaks, and the agent's image over that one."""

    place: Place
    leaky: str
    image: str
    engine: DockerEngine


def with_layer(engine: DockerEngine, scratch: Path, parent: str, script: str) -> str:
    """Build an image that adds what a script leaves; the same script gives the same image."""
    name = f"assay/test-layer:{sha256((parent + script).encode()).hexdigest()[:16]}"
    if engine.find_image(name) is None:
        context = scratch / name.rpartition(":")[2]
        context.mkdir()
        (context / "layer.sh").write_text(script)
        (context / "Dockerfile").write_text(
            f"# assay: network=none\nFROM {parent}\nUSER root\n"
            "COPY layer.sh /layer.sh\nRUN sh /layer.sh && rm /layer.sh\n"
        )
        engine.build(name, context, scratch / "log", secrets={}, labels={"assay.kind": "test"})
    return name
