"""The Storage Write API in the engine."""

from typing import Final

from conformance.engine.plugin import EnginePlugin, MessageLines, Recordings
from conformance.protocols.storage_write.engine import recordings
from conformance.protocols.storage_write.wire.messages import METHODS
from conformance.records import Call


def _messages(call: Call, most: int) -> MessageLines:
    from conformance.protocols.storage_write.engine.transcript import WriteTranscript  # noqa: PLC0415  # who shows none

    return WriteTranscript(call, most)


PLUGIN: Final = EnginePlugin(
    recordings=Recordings(recordings.groups, recordings.driven, recordings.CLAUSES, frozenset(METHODS)),
    messages=_messages,
    has_known_rows=False,
)
