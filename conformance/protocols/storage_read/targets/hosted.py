"""A server of Storage Read in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from conformance.protocols.storage_read.targets.driver import ServerTarget
from conformance.records import Case
from conformance.targets.hosted import rows_of

__all__ = ["HostedTarget"]


class HostedTarget(ServerTarget):
    """A server of Storage Read in this process."""

    def _rows_of(self, case: Case, table: pa.Table) -> Sequence[Any]:
        return rows_of(case, table)
