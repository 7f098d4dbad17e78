"""The reference in a process of its own, until SIGTERM or SIGINT.

Prints one JSON line per listener once it is bound: ``{"event": "grpc.listen", "port": …}`` and
``{"event": "rest.listen", "port": …}``.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from conformance._pandas import leave_pandas_out
from conformance.contain.interrupts import stopping
from conformance.contain.limits import collect_seldom, release_large
from conformance.protocols.storage_write.reference.server import listen
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.store import Store
from conformance.reference.tokens import opaque
from conformance.targets.ticks import WALL

__all__ = ["main", "serve"]


def serve(*, mutant: str | None = None, host: str = "127.0.0.1", say: Callable[[str], object] = print) -> None:
    """Run a server until SIGTERM or SIGINT; ``say`` gets one JSON line per listener. For the main thread only."""
    with stopping() as done, ExitStack() as stack:
        rpc, rest = listen(_service(mutant)(Store(WALL.now, opaque)), stack, host)
        for event, address in (("grpc.listen", rpc), ("rest.listen", rest)):
            say(json.dumps({"event": event, "port": int(address.rpartition(":")[2])}))
        done.wait()


def _service(mutant: str | None) -> type[WriteService]:
    if mutant is None:
        return WriteService
    # A server that obeys starts without the mutants.
    from conformance.protocols.storage_write.reference.deviations import service_class  # noqa: PLC0415  # see above

    return service_class(mutant)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    collect_seldom()
    release_large()
    leave_pandas_out(always=True)
    parser = argparse.ArgumentParser(
        prog="python -m conformance.protocols.storage_write.reference", description=__doc__
    )
    parser.add_argument("--mutant", metavar="NAME", help="serve with this one deviation")
    parser.add_argument("--host", default="127.0.0.1")
    options = parser.parse_args(arguments)
    try:
        serve(mutant=options.mutant, host=options.host, say=functools.partial(print, flush=True))
    except KeyError as error:
        parser.error(f"argument --mutant: there is no mutant {error.args[0]!r}")
    except OSError as error:
        parser.error(f"cannot serve: {error}")
