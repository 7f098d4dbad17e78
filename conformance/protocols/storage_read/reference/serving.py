"""The reference server in a process of its own, until SIGTERM or SIGINT: ``python -m conformance.reference``.

Prints one JSON line per listener once it is bound: ``{"event": "grpc.listen", "port": …}`` and
``{"event": "rest.listen", "port": …}``. With ``--tables-on-stdin`` these lines go to standard error, standard input
and output carry tables, and REST is not mentioned.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance._pandas import leave_pandas_out
from conformance.contain.interrupts import stopping
from conformance.contain.limits import collect_seldom, release_large
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.protocols.storage_read.reference.state import read_state, write_state
from conformance.records import RecordError
from conformance.reference.delays import Delays
from conformance.reference.guard import Guard, ServerTls

__all__ = ["main", "serve"]


def serve(
    *,
    mutant: str | None = None,
    host: str = "127.0.0.1",
    say: Callable[[str], object] = print,
    tls: ServerTls | None = None,
    guard: Guard | None = None,
    delays: Delays = Delays(),  # noqa: B008  # it is immutable
    tables_on_stdin: bool = False,
    state: Path | None = None,
) -> None:
    """Run a server until SIGTERM or SIGINT; ``say`` gets one JSON line per listener. For the main thread only.

    With ``tables_on_stdin``, the tables come on standard input instead of over REST. Tables and sessions are read from
    the file ``state``, if it exists, and written there at the end: a restarted server serves them again.
    The other arguments are those of
    :class:`ReferenceServer`.
    """
    with stopping() as done:
        with ReferenceServer(mutant=mutant, host=host, tls=tls, guard=guard, delays=delays) as server:
            if state is not None and state.exists():
                tables, streams = read_state(state)
                server.catalogue.restore(tables)
                server.service.restore(streams)
            if tables_on_stdin:
                sys.stderr.write(json.dumps({"event": "grpc.listen", "port": server.grpc_port}) + "\n")
                sys.stderr.flush()
                from conformance.protocols.storage_read.reference.stdin import serve_tables  # noqa: PLC0415  # no other server needs it

                door = (server.service, sys.stdin, say)
                threading.Thread(target=serve_tables, args=door, daemon=True).start()
            else:
                say(json.dumps({"event": "grpc.listen", "port": server.grpc_port}))
                say(json.dumps({"event": "rest.listen", "port": server.rest_port}))
            done.wait()
        if state is not None:
            write_state(state, server.catalogue, server.service.sessions.kept())


def main(arguments: Sequence[str] | None = None) -> None:
    """The command; every project id exists, so ``--project`` is accepted and changes nothing."""
    collect_seldom()
    release_large()
    leave_pandas_out(always=True)
    parser = argparse.ArgumentParser(prog="python -m conformance.reference", description=__doc__)
    parser.add_argument("--mutant", metavar="NAME", help="serve with this one deviation")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--project", help="accepted for symmetry with other servers; every project exists")
    parser.add_argument("--tables-on-stdin", action="store_true", help="take tables as lines of JSON, not over REST")
    parser.add_argument("--state", metavar="FILE", type=Path, help="keep tables and sessions there for the next start")
    options = parser.parse_args(arguments)
    stdin, say = options.tables_on_stdin, functools.partial(print, flush=True)
    try:
        serve(mutant=options.mutant, host=options.host, say=say, tables_on_stdin=stdin, state=options.state)
    except KeyError as error:
        parser.error(f"argument --mutant: {error.args[0]}")
    except RecordError as error:
        parser.error(f"argument --state: {error}")
    except OSError as error:
        parser.error(f"cannot serve: {error}")
