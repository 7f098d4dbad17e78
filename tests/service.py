"""The target file of the service as it ships, pointed at a reference behind TLS, tokens, quotas and slow jobs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conformance.disk.files import data_file
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.reference.delays import Delays
from conformance.reference.guard import Guard, ServerTls

__all__ = ["TOKEN", "VARIABLE", "served", "service_file"]

TOKEN = "ya29.a-token-that-nobody-has"  # made up
VARIABLE = "A_TOKEN"


@contextmanager
def served(certificates: Path, *, delays: Delays = Delays(), **guard: Any) -> Iterator[ReferenceServer]:  # noqa: B008  # it is immutable
    """A reference behind TLS that knows one token; the other arguments are those of its guard."""
    tls = ServerTls(certificates / "server.pem", certificates / "server.key")
    with ReferenceServer(tls=tls, guard=Guard(tokens=lambda: [TOKEN], **guard), delays=delays) as server:
        yield server


def service_file(server: ReferenceServer, certificates: Path, **changes: str) -> str:
    """``targets/bigquery.toml`` with the addresses, the authority and the token of ``server``.

    The reference knows no INSERT, so that its last way is insertAll; nothing waits longer than a test may.
    """
    text = (data_file("targets") / "bigquery.toml").read_text(encoding="utf-8")
    for written, wanted in {
        "bigquerystorage.googleapis.com:443": server.grpc_endpoint,
        "https://bigquery.googleapis.com": f"https://{server.rest_endpoint}",
        "[endpoint.tls]\n": f'[endpoint.tls]\nca = "{certificates}/ca.pem"\n',
        "google = true": f'variable = "{VARIABLE}"',
        '"sql"]': '"rest"]',
        "pause = 1.0": "pause = 0.001",
        **changes,
    }.items():
        assert text.count(written) == 1, written
        text = text.replace(written, wanted)
    return text
