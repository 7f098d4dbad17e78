"""Row restrictions; every one is refused as yet, so that none is ever ignored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import pyarrow as pa

from conformance.records import Column

__all__ = ["InvalidRestriction", "evaluate"]


class InvalidRestriction(Exception):
    """The restriction is not a boolean expression over the table's columns."""


def evaluate(text: str, _columns: Sequence[Column], _rows: pa.Table) -> NoReturn:
    """Refuse the restriction."""
    raise InvalidRestriction(text)
