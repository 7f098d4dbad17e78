"""The Storage Read API in the engine."""

from typing import Final

from conformance.contract import proto
from conformance.engine.plugin import EnginePlugin, Recordings
from conformance.protocols.storage_read.engine import recordings
from conformance.protocols.storage_read.engine.features import features_of

PLUGIN: Final = EnginePlugin(
    features=features_of,
    recordings=Recordings(recordings.groups, recordings.driven, recordings.CLAUSES, frozenset(proto.REQUESTS)),
)
