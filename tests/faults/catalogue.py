"""All faults, in the order of the page: importing this module registers them."""

from __future__ import annotations

from tests.faults import dialects, reads, sessions, splits  # noqa: F401  # each registers its faults
from tests.faults.register import FAULTS, Fault

__all__ = ["FAULTS", "Fault"]
