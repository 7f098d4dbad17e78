"""The Storage Write API in the engine."""

from typing import Final

from conformance.engine.plugin import EnginePlugin, Recordings
from conformance.protocols.storage_write.contract.messages import METHODS
from conformance.protocols.storage_write.engine import recordings

PLUGIN: Final = EnginePlugin(
    recordings=Recordings(recordings.groups, recordings.driven, recordings.CLAUSES, frozenset(METHODS)),
    has_known_rows=False,
    draws_cases=False,
)
