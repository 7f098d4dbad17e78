"""``python -m adapters [NAME ...]``: build the adapters that this machine can build, and print a line about each.

Exit status: 0; 1 if an adapter given by name could not be built; 2 for an unknown name.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from adapters.building import BUILD_SECONDS, NotBuiltError, build
from adapters.spec import shipped
from conformance.readers.ipc.adapters import builds

LEAST: Final = "CONFORMANCE_BUILD_MINUTES"
"""The variable with which a build that is short of time gives its adapters fewer minutes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the adapters and print the results; returns the exit status."""
    specs = shipped()
    parser = argparse.ArgumentParser(
        prog="python -m adapters", description="Build the adapters that can be built here."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(specs)}; all if none is given")
    parser.add_argument("--cache", type=Path, help=f"the directory of all builds (default: {builds()})")
    parser.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        help=f"for all builds together, if {LEAST} is no less: what is not ready by then is left out",
    )
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.names if name not in specs]
    if unknown:
        parser.error(f"expected names among {', '.join(specs)} but got {', '.join(unknown)}")
    end = time.monotonic() + 60 * min(asked.minutes, float(os.environ.get(LEAST, "inf")))
    skipped = 0
    width = max(map(len, specs))
    for name in asked.names or specs:
        try:
            left = max(end - time.monotonic(), 0.0)
            built = build(specs[name], asked.cache, seconds=min(BUILD_SECONDS, left))
        except NotBuiltError as error:
            skipped += 1
            line = f"skipped: {error}"
        else:
            line = f"{'built already' if built.found else 'built'}: {specs[name].title} {built.version}"
        sys.stdout.write(f"{name:{width}}  {line}\n")
        sys.stdout.flush()
    return 1 if asked.names and skipped else 0


if __name__ == "__main__":
    sys.exit(main())
