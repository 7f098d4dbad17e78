"""The REST side of the small server, on bare sockets: it obeys, but for requests that name an attacked case's table."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable
from typing import Any, Final

from tests.hostile.attack import Attack, Part, by_slug

__all__ = ["RestSide"]

_TABLE: Final = re.compile(rb"\bt_(\w+?)_[0-9a-f]{8}_\w+")


class RestSide:
    """Datasets, tables, insertAll and tabledata.list, a thread for each connection."""

    def __init__(self) -> None:
        self._tables: dict[str, tuple[list[tuple[str, bool]], list[dict[str, Any]]]] = {}
        self.on_table: Callable[[], None] = lambda: None
        """Called when a table is made: what attacked the case before attacks no longer."""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])

    def start(self) -> None:
        """Accept connections."""
        threading.Thread(target=self._accept, daemon=True).start()

    def columns_of(self, resource: str) -> list[tuple[str, bool]]:
        """Names of a table's columns, and whether each is nullable; none for an unknown table."""
        return self._tables.get(resource.rpartition("/")[2], ([], []))[0]

    def rows_of(self, resource: str) -> list[dict[str, Any]]:
        """A table's rows as insertAll brought them."""
        return self._tables.get(resource.rpartition("/")[2], ([], []))[1]

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError, IndexError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream = connection.makefile("rb")
            while line := stream.readline():
                method, path, _ = line.decode("latin-1").split()
                headers = _headers(stream)
                body = stream.read(int(headers.get("content-length", "0")))
                attack = _attack(path.encode() + body)
                if attack is not None:
                    attack.act(connection, method, path)
                    return
                status, answer = self._answer(method, path.partition("?")[0], json.loads(body) if body else {})
                text = json.dumps(answer).encode()
                connection.sendall(b"HTTP/1.1 %d OK\r\nContent-Length: %d\r\n\r\n%s" % (status, len(text), text))

    def _answer(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        parts = path.strip("/").split("/")
        if method == "POST" and parts[-1] == "tables":
            fields = [(field["name"], field.get("mode") != "REQUIRED") for field in body["schema"]["fields"]]
            self._tables[body["tableReference"]["tableId"]] = (fields, [])
            self.on_table()
        elif method == "POST" and parts[-1] == "insertAll":
            self._tables[parts[-2]][1].extend(row["json"] for row in body["rows"])
        elif method == "GET" and parts[-1] == "data":
            fields, rows = self._tables[parts[-2]]
            cells = [{"f": [{"v": row.get(name)} for name, _ in fields]} for row in rows]
            return 200, {"totalRows": str(len(rows)), "rows": cells}
        return 200, {}


def _headers(stream: Any) -> dict[str, str]:
    found = {}
    while line := stream.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        found[name.lower()] = value.strip()
    return found


def _attack(request: bytes) -> Attack | None:
    found = _TABLE.search(request)
    return by_slug(found[1].decode(), (Part.REST,)) if found else None
