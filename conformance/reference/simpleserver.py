"""The reference of a simple protocol in a process of its own, until SIGTERM or SIGINT.

``python -P -m conformance.reference.simpleserver PROTOCOL`` serves it, or with ``--mutant`` one of its deviations. One
JSON line says on which port.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence

from conformance.protocol import plugins
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.simple import SimpleService

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    say = functools.partial(print, flush=True)
    simple = {name: one for name, one in plugins(ReferencePlugin).items() if issubclass(one.bases[-1], SimpleService)}
    parser = argparse.ArgumentParser(prog="python -m conformance.reference.simpleserver", description=__doc__)
    parser.add_argument("protocol", choices=[*simple])
    parser.add_argument("--mutant", metavar="NAME", help="serve with this one deviation")
    parser.add_argument("--host", default="127.0.0.1")
    options = parser.parse_args(arguments)
    try:
        simple[options.protocol].serve(mutant=options.mutant, host=options.host, say=say)
    except KeyError:
        parser.error(f"argument --mutant: {options.protocol} has no deviation {options.mutant!r}")


if __name__ == "__main__":
    main()
