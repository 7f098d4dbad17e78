"""The Storage Read API in the engine."""

from typing import Final

from conformance.contract import proto
from conformance.engine.plugin import EnginePlugin, Recordings
from conformance.protocols.storage_read.engine import recordings
from conformance.records import RunQuery

PLUGIN: Final = EnginePlugin(
    recordings=Recordings(
        recordings.groups, recordings.driven, recordings.CLAUSES, frozenset({*proto.REQUESTS, RunQuery.METHOD})
    ),
)
