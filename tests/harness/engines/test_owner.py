import subprocess
import sys
import time

from assay.harness.engines.owner import DEADLINE, OWNER, is_orphan, owner_labels


def test_object_of_this_process_is_no_orphan() -> None:
    assert not is_orphan(owner_labels(60))


def test_object_of_a_living_owner_is_no_orphan_whatever_the_clock() -> None:
    assert not is_orphan(owner_labels(60), now=time.time() + 86400)


def test_object_of_a_dead_owner_is_an_orphan() -> None:
    program = "from assay.harness.engines.owner import this_process; print(this_process())"
    owner = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    assert is_orphan({**owner_labels(60), OWNER: owner})


def test_reused_process_id_is_not_the_owner() -> None:
    labels = owner_labels(60)
    assert is_orphan({**labels, OWNER: labels[OWNER] + "1"})


def test_object_of_another_machine_is_an_orphan_after_its_deadline() -> None:
    labels = {OWNER: "elsewhere:boot:1:2", DEADLINE: str(int(time.time()) + 60)}
    assert not is_orphan(labels)
    assert is_orphan(labels, now=time.time() + 61)


def test_object_of_another_process_space_is_an_orphan_after_its_deadline() -> None:
    labels = owner_labels(60)
    host, boot, _, _, started = labels[OWNER].split(":")
    unknown = {**labels, OWNER: f"{host}:{boot}:1:999999:{started}"}
    assert not is_orphan(unknown)
    assert is_orphan(unknown, now=time.time() + 61)
    assert is_orphan({**labels, OWNER: f"{host}:another-boot:1:999999:{started}"})
