"""Settings of gRPC and protobuf that they read from the environment when they are imported; the suite's programs settle
them first.
"""

from __future__ import annotations

import os
from typing import Final

__all__ = ["settle_grpc"]

_PROTOBUF: Final = "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"
_IMPLEMENTATIONS: Final = ("python", "upb")


def settle_grpc() -> None:
    """Keep gRPC from printing and from aborting; call this before it is imported.

    Of its variables, ``GRPC_POLL_STRATEGY`` alone aborts the process, at any value that names no strategy or ``none``.
    How it waits changes nothing that is judged, so it always waits in its own way. protobuf raises an exception at an
    implementation that it does not have.
    """
    if os.environ.get(_PROTOBUF) not in _IMPLEMENTATIONS:
        os.environ.pop(_PROTOBUF, None)
    # It prints the text of a peer that hangs up, including escape sequences.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    os.environ.pop("GRPC_POLL_STRATEGY", None)
