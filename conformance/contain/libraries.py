"""Settings that libraries read from the environment when they are imported; the suite's programs settle them first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

__all__ = ["ONE_THREAD", "settle_libraries"]

ONE_THREAD: Final[Mapping[str, str]] = {"OPENBLAS_NUM_THREADS": "1"}
"""No pool of threads for linear algebra, of which the suite does none: it only costs memory and start-up time."""

_PROTOBUF: Final = "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"
_IMPLEMENTATIONS: Final = ("python", "upb")


def settle_libraries() -> None:
    """Keep numpy from starting threads, and gRPC from printing and from aborting; call this before they are imported.

    OpenBLAS, which numpy loads, starts a thread for each core at once: 0.04 s of the 0.37 s of a reference server's
    start on two cores. A user's own setting is kept.

    Of gRPC's variables, ``GRPC_POLL_STRATEGY`` alone aborts the process, at any value that names no strategy or
    ``none``. How it waits changes nothing that is judged, so it always waits in its own way. protobuf raises an
    exception at an implementation that it does not have. ``GRPC_TRACE`` prints what no other part of the suite shows.
    """
    for name, number in ONE_THREAD.items():
        os.environ.setdefault(name, number)
    if os.environ.get(_PROTOBUF) not in _IMPLEMENTATIONS:
        os.environ.pop(_PROTOBUF, None)
    # It prints the text of a peer that hangs up, including escape sequences.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    os.environ.pop("GRPC_POLL_STRATEGY", None)
    # Traces show the headers of every call, and tokens are in them.
    os.environ.pop("GRPC_TRACE", None)
