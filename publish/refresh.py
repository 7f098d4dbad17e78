"""Bring every file that is made from the suite itself up to date, and say what changed.

    python -m publish.refresh [--check] [PART ...]

Without names all parts are made, in the order of :data:`publish.generated.PARTS`. With ``--check`` nothing is written,
the lines are the same, and the status is 1 if a file is out of date. Seconds are those of the processor, not of the
clock.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from conformance.disk.files import write_whole
from publish.generated import PARTS, Part

__all__ = ["Change", "changes", "main"]

_ID: Final = re.compile(r"(?<![\w./-])[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z0-9-]*[a-z0-9](?![\w/(]|\.\w)")
"""An id of a clause, a case, a mutant or a vector."""
NAMED: Final = 3
"""The most ids that are named in the line of a file."""


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """A file that is not as it would be made; ``before`` is None if it is missing, ``after`` if it is to be removed."""

    path: Path
    before: bytes | None
    after: bytes | None

    def apply(self) -> None:
        """Write or remove the file."""
        if self.after is None:
            self.path.unlink()
        else:
            write_whole(self.path, self.after)

    def line(self, root: Path) -> str:
        """What the command prints: the path below ``root``, and what is new and what is gone."""
        return f"{self.path.relative_to(root).as_posix()}: {self._summary()}"

    def _summary(self) -> str:
        """Ids first, then lines; of a file that is no text, its size."""
        if self.before is None or self.after is None:
            return "new" if self.before is None else "removed"
        try:
            before, after = self.before.decode(), self.after.decode()
        except UnicodeDecodeError:
            return f"{len(self.before):,} bytes become {len(self.after):,}"
        old, new = (Counter(text.splitlines()) for text in (before, after))
        more, less = new - old, old - new
        lines = f"lines +{more.total()} -{less.total()}" if more or less else "the same lines in another order"
        return "; ".join([*_ids("+", more, before), *_ids("-", less, after), lines])


def _ids(sign: str, lines: Counter[str], other: str) -> Iterator[str]:
    """The ids that these lines have and the other text has not."""
    found = sorted(set(_ID.findall("\n".join(lines))) - set(_ID.findall(other)))
    if found:
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        yield f"{sign} {', '.join(found[:NAMED])}{more}"


def changes(part: Part) -> list[Change]:
    """The files of a part that are not as they would be made now, by path."""
    made = {path: data.encode() if isinstance(data, str) else data for path, data in part.render().items()}
    owned = {path for glob in part.owns for path in part.root.glob(glob)}
    found = [Change(path, path.read_bytes() if path.exists() else None, data) for path, data in made.items()]
    found += [Change(path, path.read_bytes(), None) for path in owned - made.keys()]
    return sorted((one for one in found if one.before != one.after), key=lambda one: one.path)


def main(arguments: Sequence[str] | None = None, parts: Sequence[Part] = PARTS) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m publish.refresh",
        description="Bring every file that is made from the suite itself up to date, and say what changed.",
        epilog=f"Parts: {', '.join(part.name for part in parts)}.",
    )
    parser.add_argument("names", metavar="PART", nargs="*", help="only these parts; all by default")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a file differs")
    options = parser.parse_args(arguments)
    if unknown := sorted({*options.names} - {part.name for part in parts}):
        parser.error(f"expected names of parts, got {', '.join(unknown)}")
    stale: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    for part in (part for part in parts if not options.names or part.name in options.names):
        if part.left_out:
            _print(f"{part.name} is left as it is: {part.left_out}")
            continue
        before = _processor_seconds()
        found = changes(part)
        seconds[part.name] = _processor_seconds() - before
        for change in found:
            if not options.check:
                change.apply()
            _print(change.line(part.root))
        stale[part.name] += len(found)
        if options.check and (waits := [name for name in part.after if stale[name]]):
            _print(f"{part.name} is made from {', '.join(waits)} too, and may change further")
    _print(_ending(+stale, check=options.check))
    _print(f"processor seconds: {_costs(seconds)}")
    return int(options.check and stale.total() > 0)


def _ending(stale: Counter[str], *, check: bool) -> str:
    files = f"{stale.total()} file{'' if stale.total() == 1 else 's'}"
    if not stale:
        return "every file is up to date"
    if not check:
        return f"{files} written"
    return f"{files} out of date; run `python -m publish.refresh {' '.join(stale)}`"


def _costs(seconds: dict[str, float]) -> str:
    """The whole, and the parts from the most expensive one."""
    parts = sorted(seconds.items(), key=lambda each: -each[1])
    return f"{sum(seconds.values()):.1f} ({', '.join(f'{name} {each:.1f}' for name, each in parts)})"


def _processor_seconds() -> float:
    """Those of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
