"""``python -m conformance.reference``: the reference server in a process of its own, until SIGTERM or SIGINT.

Prints one JSON line per listener once it is bound: ``{"event": "grpc.listen", "port": …}`` and
``{"event": "rest.listen", "port": …}``.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Callable, Sequence

from conformance.reference.mutants import MUTANTS
from conformance.reference.server import ReferenceServer

__all__ = ["main", "serve"]


def serve(*, mutant: str | None = None, host: str = "127.0.0.1", say: Callable[[str], object] = print) -> None:
    """Run a server until SIGTERM or SIGINT; ``say`` gets one JSON line per listener. For the main thread only."""
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    with ReferenceServer(mutant=mutant, host=host) as server:
        say(json.dumps({"event": "grpc.listen", "port": server.grpc_port}))
        say(json.dumps({"event": "rest.listen", "port": server.rest_port}))
        done.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """The command; every project id exists, so ``--project`` is accepted and changes nothing."""
    parser = argparse.ArgumentParser(prog="python -m conformance.reference", description=__doc__)
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="serve with this one deviation")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--project", help="accepted for symmetry with other servers; every project exists")
    options = parser.parse_args(arguments)
    serve(mutant=options.mutant, host=options.host, say=_line)


def _line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
