"""Types for numbers on the command line: each has a range of sensible values, and everything else is refused."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import click

__all__ = [
    "ATTEMPTS",
    "BYTES",
    "CASES",
    "DURATION",
    "MOST_GENERATED",
    "PROCESSES",
    "SECONDS",
    "SEED",
    "Duration",
    "Number",
    "count_of",
    "deadline_option",
    "seed_option",
]

MOST_CASES: Final = 10**9
"""The most cases of a campaign: at its fastest rate, several days."""
MOST_GENERATED: Final = 10**7
"""The most generated cases of a run: as many as the reader of its log accepts (``conformance.engine.log``)."""
GREATEST_SEED: Final = 2**63 - 1
"""The greatest seed that every program that reads a report can represent."""


class Number(click.FloatRange):
    """A float in a range; ``nan``, which every comparison with a bound lets pass, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number in ``value``; fails for ``nan``."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


class Duration(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click alone
    """A time in seconds: ``60``, ``60s``, ``2m``, ``1h``; at most a day."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds in ``value``."""
        found = _DURATION.fullmatch(str(value))
        seconds = float(found["number"]) * _UNITS[found["unit"]] if found else 0.0
        if not 0 < seconds <= _DAY:
            self.fail(f"expected a time such as 60s, 2m or 1h, at most a day, got {value!r}", param, ctx)
        return seconds


_DURATION: Final = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>|s|m|h)")
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600}
_DAY: Final = 86_400
DURATION: Final = Duration()
SEED: Final = click.IntRange(0, GREATEST_SEED)
CASES: Final = click.IntRange(0, MOST_GENERATED)
PROCESSES: Final = click.IntRange(1, 1024)
"""The number of parallel processes; the limit is above the number of cores of any machine that was tried."""
BYTES: Final = click.IntRange(1, 1 << 60)
SECONDS: Final = Number(0, 86_400, min_open=True)
"""The time limit for one answer, at most a day."""
ATTEMPTS: Final = click.IntRange(1, 1000)
"""The number of attempts at each case: enough for a failure that one attempt in a few hundred shows."""


def count_of(least: int = 0) -> click.IntRange:
    """A number of cases, at least ``least``."""
    return click.IntRange(least, MOST_CASES)


deadline_option = click.option(
    "--deadline-multiplier",
    metavar="X",
    type=Number(0.001, 1000),
    default=1.0,
    show_default=True,
    help="Multiply every deadline by X.",
)

seed_option = click.option(
    "--seed", metavar="S", type=SEED, default=0, show_default=True, help="Seed of every random choice."
)
