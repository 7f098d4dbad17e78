"""Numbers on the command line: each has a range in which it means something, and what is no number is none."""

from __future__ import annotations

import math
from typing import Any, Final

import click

__all__ = [
    "CASES",
    "MOST_GENERATED",
    "PROCESSES",
    "SECONDS",
    "SEED",
    "Number",
    "count_of",
    "deadline_option",
    "seed_option",
]

MOST_CASES: Final = 10**9
"""Cases of a campaign: at its fastest rate, several days."""
MOST_GENERATED: Final = 10**7
"""Cases of a run, as many as the reader of its log takes (``conformance.engine.log``)."""
GREATEST_SEED: Final = 2**63 - 1
"""What every reader of a report can hold."""


class Number(click.FloatRange):
    """A float in a range; ``nan``, which is below nothing and above nothing, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number in ``value``."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


SEED: Final = click.IntRange(0, GREATEST_SEED)
CASES: Final = click.IntRange(0, MOST_GENERATED)
PROCESSES: Final = click.IntRange(1, 1024)
"""Processes beside each other: more than any machine that this was tried on has cores."""
SECONDS: Final = Number(0, 86_400, min_open=True)
"""What one answer may take, at most a day."""


def count_of(least: int = 0) -> click.IntRange:
    """A number of cases, ``least`` at least."""
    return click.IntRange(least, MOST_CASES)


deadline_option = click.option(
    "--deadline-multiplier",
    metavar="X",
    type=Number(0.001, 1000),
    default=1.0,
    show_default=True,
    help="Stretch every deadline.",
)

seed_option = click.option(
    "--seed", metavar="S", type=SEED, default=0, show_default=True, help="Decides every random choice."
)
