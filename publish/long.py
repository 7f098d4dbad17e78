"""``python -m publish.long [NAME ...]``: run environments of tox one after the other, and say how long each took.

Without a name it runs all that a release needs. With ``--changed`` it runs those that the change touches, and with
``--seconds`` only those that are ready in time by their recorded cost; it says which ones it left out, and why. A
failure stops no other environment. Exit status: 0 if all that ran passed, 1 if one failed, 2 for an unknown name.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from publish.environments import ENVIRONMENTS, Environment, Part, changed, touched

__all__ = ["Ran", "main"]

_RELEASE: Final = tuple(one for one in ENVIRONMENTS if one.part is not Part.REPORTS)


class Ran(NamedTuple):
    """An environment that ran: whether it passed, and its wall-clock and processor seconds."""

    name: str
    passed: bool
    seconds: float
    processor: float


def main(arguments: Sequence[str] | None = None, *, run: Callable[[Environment], Ran] | None = None) -> int:
    """Run the command; returns the exit status."""
    by_name = {one.name: one for one in ENVIRONMENTS}
    parser = argparse.ArgumentParser(prog="python -m publish.long", description="Run environments of tox.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(by_name)}")
    parser.add_argument("--changed", action="store_true", help="those that the change touches, all if it is not known")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="leave out those that take longer together")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.names if name not in by_name]:
        parser.error(f"expected names among {', '.join(by_name)} but got {', '.join(unknown)}")
    chosen = [by_name[name] for name in asked.names] or list(_RELEASE)
    if asked.changed:
        chosen = _touched()
    done = [*_within(asked.seconds, chosen, run or _run)]
    for one in sorted(done, key=lambda one: -one.seconds):
        state = "passed" if one.passed else "FAILED"
        _say(f"{state}  {one.seconds:7.0f} s  {one.processor:7.0f} s of processor time  {one.name}")
    _say(f"{sum(one.passed for one in done)} of {len(done)} environments passed")
    return int(not all(one.passed for one in done))


def _touched() -> list[Environment]:
    """The environments of a release that the change touches, the cheapest first."""
    files, base = changed(os.environ)
    names = frozenset(one.name for one in ENVIRONMENTS) if files is None else touched(files)
    found = [one for one in ENVIRONMENTS if one.part is Part.RELEASE and one.name in names]
    _say(f"{base}: {', '.join(one.name for one in found) or 'no long environment'}")
    return sorted(found, key=lambda one: one.seconds or 0.0)


def _within(seconds: float, chosen: Sequence[Environment], run: Callable[[Environment], Ran]) -> Iterator[Ran]:
    """Run those that are ready within ``seconds``: by the clock for those that ran, by the record for the next one."""
    bounded, end = seconds < float("inf"), time.monotonic() + seconds
    for one in chosen:
        left = end - time.monotonic()
        if bounded and one.seconds is None:
            _say(f"left out: {one.name}, whose time is not recorded: tox -e {one.name}")
        elif bounded and one.seconds is not None and one.seconds > left:
            _say(f"left out: {one.name} takes {one.seconds:.0f} s, and {max(left, 0.0):.0f} s are left")
        else:
            yield run(one)


def _run(one: Environment) -> Ran:
    """Run tox for an environment, in an environment of variables that no outer tox has changed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOX_") and name != "PYTHONPATH"}
    command = [sys.executable, "-m", "tox", "run", *one.arguments]
    _say(f"tox {' '.join(one.arguments)}")
    clock, before = time.monotonic(), _of_children()
    status = subprocess.run(command, env=kept, stdin=subprocess.DEVNULL, check=False).returncode  # noqa: S603  # tox
    return Ran(one.name, status == 0, time.monotonic() - clock, _of_children() - before)


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
