"""A worker that answers frames with themselves, and does what some of them say."""

from __future__ import annotations

import os
import socket
import sys

from conformance.contain.channel import Channel, Closed


def main() -> None:
    """Serve the socket whose number is the argument."""
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    while True:
        try:
            frame = channel.receive()
        except Closed:
            return
        if "say" in frame.header:
            print(frame.header["say"], file=sys.stderr, flush=True)
        if "exit" in frame.header:
            os._exit(frame.header["exit"])
        channel.send(frame.header, frame.blobs)


if __name__ == "__main__":
    main()
