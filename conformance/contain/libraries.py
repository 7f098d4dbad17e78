"""Settings of gRPC that it reads from the environment when it is imported; the suite's programs settle them first."""

from __future__ import annotations

import os

__all__ = ["settle_grpc"]


def settle_grpc() -> None:
    """Keep gRPC from printing and from aborting; call this before it is imported.

    Of its variables, ``GRPC_POLL_STRATEGY`` alone aborts the process, at any value that names no strategy or ``none``.
    How it waits changes nothing that is judged, so it always waits in its own way.
    """
    # It prints the text of a peer that hangs up, including escape sequences.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    os.environ.pop("GRPC_POLL_STRATEGY", None)
