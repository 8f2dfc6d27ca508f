"""Opens a service from its parts (folder, queue, routes, server), and serves until a signal."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.api.evaluator import Evaluator
from assay.choices import HoldChoice
from assay.harness.names import count
from assay.rewards import mixture_of
from assay.service.app import make_app
from assay.service.core import RewardService
from assay.service.figures import Figures
from assay.service.queue import EvaluationQueue
from assay.service.reporters import open_reporters, report
from assay.service.server import HttpServer
from assay.service.verdict_store import VerdictStore


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """The settings of a service beside those of its evaluations."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes a free one."""
    token: str = ""
    """Clients send it; empty for none."""
    queue: int = 1000
    """Evaluations that may wait."""
    max_body: int = 10_000_000
    """Bytes of a request's body at most."""
    drain: float = 600.0
    """Seconds that running evaluations have after a signal."""
    reward: str | Mapping[str, float] = "resolved"
    """The function, or the weighted mixture, for clients that name none."""
    accepts_instances: bool = False
    """Whether clients may send instances of their own."""
    probe: float = 0.0
    """Share of the time of evaluations that probes of the engine may take."""
    hold: HoldChoice = HoldChoice.NONE
    """The right probe that answers wait for."""
    check_stops: float = 0.0
    """Share of early stops that are evaluated in full, too."""
    wrong_stops: float = 0.01
    """Share of early stops that may be wrong at most."""
    causes: int = 0
    """Evaluations for the cause of a passed sample at most; 0 looks for none."""
    report_to: Sequence[str] = ()
    """Names of reporters."""


def serve(evaluator: Evaluator, folder: Path, options: ServiceOptions, say: Callable[[str], None]) -> bool:
    """Serve until a signal, keep verdicts in runs below the folder, and close the evaluator.

    Returns:
        Whether everything that ran when the signal came was finished and saved.

    Raises:
        UserError: the folder or the address is taken. PluginError: a reporter is unknown, or not installed.
        EngineUnavailable: no engine answers.
    """

    reporters = open_reporters(options.report_to)

    async def serve_until_signal() -> bool:
        with evaluator, open_server(evaluator, folder, options) as server:
            say(f"serving {count(len(evaluator.instances), 'instance')}; verdicts are kept in {folder}")
            if not reporters:
                return await server.serve(options.drain, say)
            reporting = asyncio.create_task(report(reporters, server.queue.figures))
            try:
                return await server.serve(options.drain, say)
            finally:
                reporting.cancel()
                await asyncio.gather(reporting, return_exceptions=True)

    try:
        return asyncio.run(serve_until_signal())
    except KeyboardInterrupt:
        return False


@contextmanager
def open_server(evaluator: Evaluator, folder: Path, options: ServiceOptions) -> Iterator[HttpServer]:
    """Bind the address of a service; ``serve`` of the server does the rest. Raises as ``serve`` does."""
    figures, mixture = Figures(), mixture_of(options.reward)
    store = VerdictStore(folder, evaluator.place.bench)
    with store.lock():
        queue = EvaluationQueue(evaluator, store, figures, options.queue, options.probe, options.causes)
        queue.hold_answers(options.hold)
        queue.early_stops.share, queue.early_stops.limit = options.check_stops, options.wrong_stops
        service = RewardService(evaluator, queue, figures, mixture, accepts_instances=options.accepts_instances)
        app = make_app(service, options.token, options.max_body)
        server = HttpServer(queue, app, host=options.host, port=options.port, token=options.token)
        try:
            yield server
        finally:
            server.close()
