"""``python -m conformance.protocols.flight.reference``: the reference in a process, until SIGTERM or SIGINT.

Prints one JSON line once it is bound: ``{"event": "grpc.listen", "port": …, "uri": …}``. With ``--clock``, there is a
line before it: ``{"event": "rest.listen", "port": …}``.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance._pandas import leave_pandas_out
from conformance.contain.interrupts import stopping
from conformance.contain.limits import collect_seldom, release_large
from conformance.protocols.flight.reference.deviations import flight_service, scenario_service
from conformance.protocols.flight.reference.handshake import LOGIN
from conformance.protocols.flight.reference.server import FlightServer
from conformance.reference.guard import ServerTls

__all__ = ["main", "serve_flight"]


def serve_flight(
    *,
    mutant: str | None = None,
    host: str = "127.0.0.1",
    say: Callable[[str], object] = print,
    tls: ServerTls | None = None,
    login: tuple[str, str] | None = None,
    scenario: str | None = None,
    path: Path | None = None,
    clock: bool = False,
) -> None:
    """Run a server until SIGTERM or SIGINT; ``say`` gets one JSON line, or two. For the main thread only.

    With ``login``, a name and a password, each call needs the token of a Handshake. With ``scenario``, it is the server
    of this scenario of Arrow's integration tests. The port in the line is 0 for a server at a ``path`` of the file
    system. With ``clock``, its clock is set by a request to the port of the other line.
    """
    service = (flight_service(mutant) if scenario is None else scenario_service(scenario))()
    service.login = login or service.login
    with stopping() as done, FlightServer(service, host=host, tls=tls, path=path, clock=clock) as server:
        if clock:
            say(json.dumps({"event": "rest.listen", "port": server.clock_port}))
        say(json.dumps({"event": "grpc.listen", "port": server.port, "uri": server.uri}))
        done.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    collect_seldom()
    release_large()
    leave_pandas_out(always=True)
    parser = argparse.ArgumentParser(prog="python -m conformance.protocols.flight.reference", description=__doc__)
    parser.add_argument("--mutant", metavar="NAME", help="serve with this one deviation")
    parser.add_argument("--scenario", metavar="NAME", help="serve this scenario of Arrow's integration tests")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--login", action="store_true", help="serve those alone who log in as the proof does")
    parser.add_argument("--clock", action="store_true", help="serve POST /clock, by which tests set the clock ahead")
    options = parser.parse_args(arguments)
    try:
        login = LOGIN if options.login else None
        serve_flight(
            mutant=options.mutant,
            host=options.host,
            say=functools.partial(print, flush=True),
            login=login,
            scenario=options.scenario,
            clock=options.clock,
        )
    except KeyError as error:
        name = "mutant" if options.scenario is None else "scenario"
        parser.error(f"argument --{name}: {error.args[0]}")
    except OSError as error:
        parser.error(f"cannot serve: {error}")
