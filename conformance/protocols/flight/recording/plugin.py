"""Arrow Flight for the proxy."""

from typing import Final

from conformance.protocols.flight.recording.parties import Parties
from conformance.protocols.flight.recording.secrets import secrets, without_secrets
from conformance.protocols.flight.records import FlightMethod
from conformance.recording.plugin import RecordingPlugin


def _stream_of(method: str, request: bytes) -> str:
    """The name of a stream of Flight is the request with its ticket."""
    return request.decode("latin-1") if method == FlightMethod.DO_GET else ""


PLUGIN: Final = RecordingPlugin(
    stream_of=_stream_of,
    labels=lambda: Parties().label,
    secrets=secrets,
    without_secrets=without_secrets,
)
