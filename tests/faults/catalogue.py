"""All faults, in the order of the page: importing this module registers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.faults import dialects, reads, sessions, splits  # noqa: F401  # each registers its faults
from tests.faults.register import FAULTS, Fault

__all__ = ["FAULTS", "NOT_FAULTS", "Fault"]

NOT_FAULTS: Final[Mapping[str, str]] = {
    "reads.schema-only-at-offset-zero": (
        "no record shows whether the service repeats the schema in a resumed read, and its proto can be read either way"
    ),
}
"""Faults that turned out to be permitted behaviour, with the reason. They stay in the list and are not counted."""
