"""Whole sessions of the Storage Read API, results of queries, and the messages of a serializer, for readers."""

from typing import Final

from conformance.contract import proto
from conformance.contract.view import View
from conformance.protocols.storage_read.readers.held import held_sessions
from conformance.readers.fullread import FullRead, full_reads
from conformance.readers.plugin import ReadersPlugin
from conformance.readers.queryread import query_reads
from conformance.records import Case, Exchange


def _reads(case: Case, exchange: Exchange, _view: View | None = None) -> list[FullRead]:
    return [*full_reads(case, exchange), *query_reads(case, exchange)]


PLUGIN: Final = ReadersPlugin(_reads, held_sessions, proto.METHOD_PATHS)
