"""The numbers that a target file may hold."""

from __future__ import annotations

from typing import Final

from conformance.records import RecordError

__all__ = ["DAY", "LEAST", "check_range"]

DAY: Final = 86_400.0
"""The longest time in seconds: a longer one is a mistake, and some clocks cannot represent it."""
LEAST: Final = 0.001
"""The shortest time in seconds: no clock of the suite is finer."""


def check_range(where: str, value: float, least: float, most: float, unit: str) -> None:
    """Raise :class:`RecordError` for a number outside its range; ``nan`` is outside every range."""
    if not least <= value <= most:
        raise RecordError(where, f"{unit} from {least:g} to {most:.15g}", value)
