"""Programs beside the tests, each in a box of its own: how one is started, and how to see that it answers."""

from assay.harness.domain import Limits, Service
from assay.harness.engines.base import Box, Sidecar
from assay.harness.errors import EnvironmentFailure

START_SECONDS = 60.0  # A service whose port does not answer by then has failed
LIMITS = Limits(memory_mb=1024, pids=256, disk_mb=512)
USER = "assay"
LOG, PID = "/tmp/assay-service.log", "/tmp/assay-service.pid"
LOG_BYTES = 64 * 1024
START = f'bash -c "$0" > {LOG} 2>&1 < /dev/null & echo $! > {PID}'
WAIT = f'until (exec 3<> "/dev/tcp/$0/$1") 2> /dev/null; do kill -0 "$(cat {PID})" || exit 1; sleep 0.1; done'


def service_image(sidecar: Sidecar) -> str:
    """Return the name of a service's image; raises EnvironmentFailure if the instance's image names none."""
    if not sidecar.image:
        raise EnvironmentFailure(f"the instance's image names no image for service {sidecar.service.name}")
    return sidecar.image


def service_limits(tests: Limits) -> Limits:
    """Return the limits of a service's box, which has to outlive the tests."""
    return LIMITS.model_copy(update={"seconds": tests.seconds + START_SECONDS})


def start_service(box: Box, service: Service) -> None:
    box.exec(["bash", "-c", START, service.command], user=USER, workdir="/tmp")


def await_service(box: Box, service: Service) -> None:
    """Wait until a service's port answers, seen from its own box by its own name; raises EnvironmentFailure."""
    waited = box.exec(["bash", "-c", WAIT, service.name, str(service.port)], user=USER, seconds=START_SECONDS)
    if waited.exit_code == 0:
        return
    log = b"".join(box.get(LOG, LOG_BYTES).values()).decode(errors="replace").strip()
    problem = f"did not answer within {START_SECONDS:.0f} s" if waited.timed_out else "has ended by itself"
    last = f": {log.splitlines()[-1]}" if log else ""
    raise EnvironmentFailure(f"service {service.name} (port {service.port}) {problem}{last}", tail=log)
