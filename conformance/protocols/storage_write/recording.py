"""The Storage Write API for the proxy."""

from typing import Final

from conformance.protocols.storage_write.contract.naming import stream_of
from conformance.recording.plugin import RecordingPlugin

PLUGIN: Final = RecordingPlugin(stream_of=stream_of)
