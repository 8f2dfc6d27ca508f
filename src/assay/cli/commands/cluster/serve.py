"""``assay cluster serve``: a model server for the jobs of a cluster."""

import signal
import socket
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import exits
from assay.harness.errors import UserError


def serve(
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="Starts the server; {port} is filled in.")],
    address_file: Annotated[
        Path, typer.Option(metavar="FILE", help="Has the server's address, for as long as it runs.")
    ],
    wait: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="Time in which the server has to answer.")
    ] = 1800.0,
    host: Annotated[
        str, typer.Option(metavar="NAME", help="Name of this machine, as others reach it.", show_default="its own")
    ] = "",
) -> None:
    """Run a model server, and write its address into a file once it answers; what it prints is in FILE.log.

    The server is started again if it dies, at most three times, and ends with this command. It has to listen on all
    addresses of the machine.

    \b
    Examples:
      assay cluster serve --address-file address -- "vllm serve MODEL --host 0.0.0.0 --port {port}"
    """
    from assay.agents.llm.server import ModelServer
    from assay.cli.console import say
    from assay.harness.files import replace_file

    def stop(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    log = address_file.with_name(f"{address_file.name}.log")
    try:
        with ModelServer(command, log, wait=wait, note=say) as server:
            address = f"http://{host or socket.gethostname()}:{server.port}/v1"
            replace_file(address_file, address.encode())
            say(f"the model server answers at {address}; its log is {log}")
            server.await_end()
    except UserError as error:
        say(str(error))
        raise typer.Exit(exits.INFRASTRUCTURE) from error
    finally:
        address_file.unlink(missing_ok=True)
