"""``conformance`` on the PATH of a guide: asks a process that has imported the suite (:mod:`tests.docs.warm`).

``asking.py SOCKET ARGUMENT…`` passes on its arguments, directory, environment and standard streams, and ends in the
status of the command. It imports next to nothing.
"""

from __future__ import annotations

import json
import os
import socket
import sys


def main() -> None:
    """Ask for the command, and exit with its status; with 70, as after a defect, if there is no answer."""
    place, *arguments = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(place)
        socket.send_fds(asked, [b"\0"], [0, 1, 2])
        asked.sendall(json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode())  # noqa: PTH109  # a quick start
        asked.shutdown(socket.SHUT_WR)
        status = asked.recv(16)
    sys.exit(int(status) if status else 70)


if __name__ == "__main__":
    main()
