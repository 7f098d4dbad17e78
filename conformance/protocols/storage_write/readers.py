"""The Storage Write API for readers: its methods. What was written is read by the Storage Read API."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from conformance.contract.view import View
from conformance.protocols.storage_write.wire.messages import METHOD_PATHS
from conformance.readers.fullread import FullRead
from conformance.readers.plugin import ReadersPlugin
from conformance.records import Case, Exchange


def _reads(_case: Case, _exchange: Exchange, _view: View | None = None) -> list[FullRead]:
    return []


def _held(_view: View) -> dict[str, pa.Table]:
    return {}


PLUGIN: Final = ReadersPlugin(_reads, _held, METHOD_PATHS)
