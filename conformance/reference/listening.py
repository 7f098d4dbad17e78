"""What every gRPC listener of the suite does: its options, its port, how it ends a call in a refusal."""

from __future__ import annotations

from typing import Final, NoReturn

import grpc

from conformance.reference.guard import ServerTls
from conformance.reference.statuses import Refusal

__all__ = ["GRACE_SECONDS", "OPTIONS", "abort", "bind"]

GRACE_SECONDS: Final = 1.0
"""How long calls may go on after a server is stopped."""

OPTIONS: Final = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # Two servers on one port would share its connections; a taken port has to be an error instead.
    ("grpc.so_reuseport", 0),
)
"""The options of each gRPC listener of the suite."""

MOST_DETAILS: Final = 2000
"""The bytes of a status message that are sent: clients take metadata of 8 KiB, in which a byte may take three."""


def bind(server: grpc.Server, host: str, tls: ServerTls | None) -> int:
    """Give a server a free port on ``host``, in plain text or with ``tls``, and return it.

    Raises:
        OSError: ``host`` cannot be bound, or a file of ``tls`` cannot be used.
    """
    address = f"{host}:0"
    try:
        return server.add_insecure_port(address) if tls is None else server.add_secure_port(address, tls.credentials())
    except RuntimeError as error:
        raise OSError(f"cannot bind a gRPC port on {host}: {error}") from error


def abort(context: grpc.ServicerContext, refusal: Refusal) -> NoReturn:
    """End a call in a refusal, whose details may quote a request of any length."""
    context.set_trailing_metadata(refusal.trailers)
    details = refusal.details.encode("utf-8", "replace")
    context.abort(refusal.code, details[:MOST_DETAILS].decode("utf-8", "ignore"))
    raise AssertionError("abort raises")
