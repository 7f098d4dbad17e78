"""A TCP server of bytes: each connection is handed to a function that says what it likes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator


class Peer:
    """The server's end of one connection."""

    def __init__(self, server: RawServer, connection: socket.socket) -> None:
        self._server = server
        self._connection = connection

    def request(self) -> bytes:
        """The next request with its body, empty where the client has gone."""
        data = b""
        while b"\r\n\r\n" not in data:
            if not (more := self._connection.recv(1 << 16)):
                return b""
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(body) < length:
            body += self._connection.recv(1 << 16)
        self._server.requests.append(head + b"\r\n\r\n" + body)
        return self._server.requests[-1]

    def send(self, data: bytes) -> None:
        """Send ``data``; a client that has gone ends the conversation."""
        self._connection.sendall(data)
        self._server.sent += len(data)

    def for_ever(self, data: bytes, *, drip: bool = False) -> None:
        """Send ``data`` until the client or the test has gone, slowly where it drips."""
        while not self._server.stopped.wait(0.005 if drip else 0):
            self.send(data)

    def wait(self) -> None:
        """Say nothing until the test is over."""
        self._server.stopped.wait()


class RawServer:
    """Listens on a port of its own and runs ``speak`` for each connection; closing it ends all of them."""

    def __init__(self, speak: Callable[[Peer], None]) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self.sent = 0
        self.stopped = threading.Event()
        self._speak = speak
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.base = f"http://127.0.0.1:{self.port}"
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if self.stopped.is_set():
                connection.close()
                return
            self.connections += 1
            self._open.append(connection)
            self._threads.append(threading.Thread(target=self._serve, args=(connection,)))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            self._speak(Peer(self, connection))
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    def close(self) -> None:
        """End every conversation."""
        self.stopped.set()
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port)).close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()


Speak = Callable[[Peer], None]
Serve = Callable[[Speak], RawServer]


@contextlib.contextmanager
def raw_servers() -> Iterator[Serve]:
    """Start servers that end with the context."""
    with contextlib.ExitStack() as stack:

        def start(speak: Speak) -> RawServer:
            server = RawServer(speak)
            stack.callback(server.close)
            return server

        yield start


def answering(*answers: bytes) -> Speak:
    """One of ``answers`` to each request of a connection in turn, then the connection is closed."""

    def speak(peer: Peer) -> None:
        for answer in answers:
            if not peer.request():
                return
            peer.send(answer)

    return speak


def message(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole HTTP answer."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
