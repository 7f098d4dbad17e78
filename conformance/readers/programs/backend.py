"""What a client program talks to: the replay server of one full read, and ``tables.get`` over HTTP, both on loopback.

A request for anything else is refused with ``400 notRecorded``: a client that falls back to another way of reading
fails visibly instead of reading by a path that is not under test.
"""

from __future__ import annotations

import http.server
import json
import threading
from typing import Any, Final
from urllib.parse import urlsplit

from conformance.contract import proto
from conformance.readers.fullread import FullRead
from conformance.readers.replay import ReplayServer
from conformance.readers.tableresource import TABLE, table_path, table_resource

__all__ = ["Backend"]

PREFIXES: Final = ("", "/bigquery/v2")
"""Some clients append the path of the API to their endpoint, others expect it to contain the path already."""


class Backend:
    """Serves one full read at a time to a client; ``grpc`` is ``host:port``, ``rest`` is ``http://host:port``."""

    def __init__(self) -> None:
        self._replay = ReplayServer()
        self._http = _Tables(("127.0.0.1", 0), _Answering)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()
        self.grpc = self._replay.address
        self.rest = f"http://127.0.0.1:{self._http.server_address[1]}"

    def play(self, read: FullRead) -> dict[str, Any]:
        """Serve this read from now on, and return the members of a request that reads it."""
        self._replay.play(read)
        asked = proto.CreateReadSessionRequest.FromString(read.request).read_session
        self._http.play(asked.table, read)
        return {
            "grpc": self.grpc,
            "rest": self.rest,
            "table": asked.table,
            "columns": list(asked.read_options.selected_fields),
            "restriction": asked.read_options.row_restriction,
        }

    def close(self) -> None:
        """Stop both servers."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        self._replay.close()


class _Tables(http.server.ThreadingHTTPServer):
    """The REST side; it knows one table."""

    daemon_threads = True

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.known: tuple[str, dict[str, Any]] = ("", {})

    def play(self, table: str, read: FullRead) -> None:
        """Answer for this table, with the columns that the session selects, and for no other."""
        match = TABLE.fullmatch(table)
        if match is not None:
            parts = match.groupdict()
            self.known = (table_path(**parts), table_resource(**parts, columns=read.selected))
        else:
            self.known = ("", {})


class _Answering(http.server.BaseHTTPRequestHandler):
    """Answers ``tables.get`` of the known table."""

    protocol_version = "HTTP/1.1"
    server: _Tables

    def do_GET(self) -> None:  # the name that http.server calls
        """Answer for the known table."""
        path, (known, resource) = urlsplit(self.path).path, self.server.known
        if known and any(f"{prefix}{path}" == known for prefix in PREFIXES):
            self._send(200, resource)
        else:
            self._refuse()

    def do_POST(self) -> None:
        """Refuse: no answer to a job was recorded."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._refuse()

    def log_message(self, *_: Any) -> None:
        """Print nothing: standard error belongs to the run."""

    def _refuse(self) -> None:
        text = f"not recorded: {self.command} {self.path}"
        errors = [{"reason": "notRecorded", "message": text}]
        self._send(400, {"error": {"code": 400, "message": text, "errors": errors}})

    def _send(self, code: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
