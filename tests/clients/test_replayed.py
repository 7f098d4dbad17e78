"""The replay server as the servers of one client program, for those that read over TLS alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import grpc
import pytest

from conformance.clients.replayed import ReplayBackend
from conformance.contract import proto
from conformance.readers.ipc.implementation import Unavailable
from conformance.readers.programs.slot import warm_up_read
from tests.replay.asking import session

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@needs_openssl
def test_a_read_is_served_over_tls() -> None:
    """The request of a client has the address, the authority, and the table."""
    read = warm_up_read()
    backend = ReplayBackend()
    try:
        asked = backend.play(read)
        authority = grpc.ssl_channel_credentials(Path(asked["ca"]).read_bytes())
        with grpc.secure_channel(asked["grpc_tls"], authority) as channel:
            made = session(channel, asked["table"])
    finally:
        backend.close()

    assert made == proto.ReadSession.FromString(read.session)


def test_without_openssl_the_client_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason names what is missing."""
    monkeypatch.setenv("PATH", "")

    with pytest.raises(Unavailable, match="openssl"):
        ReplayBackend()
