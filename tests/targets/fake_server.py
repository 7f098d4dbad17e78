"""A tiny BigQueryRead server with REST for seeding, correct unless quirks are named; runs in a thread or as a process.

As a process (``python -m tests.targets.fake_server NAME…``) it prints its ports as JSON lines and adds the named
:data:`QUIRKS` to its behaviour.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc

from conformance.contract import proto

Quirk = Callable[["FakeServer"], None]


class FakeServer:
    """Sessions of ``streams`` streams whose responses hold ``counts`` rows each; tests replace single answers."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, bytes, dict[str, Any]]] = []
        self.rest_requests: list[tuple[str, str]] = []
        self.streams = 1
        self.counts: tuple[int, ...] = (2, 3)
        self.session: Callable[[bytes, grpc.ServicerContext], bytes] = self._session
        self.rows: Callable[[bytes, grpc.ServicerContext], Iterator[bytes]] = self._rows
        self.split: Callable[[bytes, grpc.ServicerContext], bytes] = self._split
        self.rest: Callable[[str, str, Any], tuple[int, Any] | None] = lambda method, path, body: None
        self.answers_anything = False
        self._sessions = 0
        self._lock = threading.Lock()

    def _session(self, request: bytes, _context: grpc.ServicerContext) -> bytes:
        asked = proto.CreateReadSessionRequest.FromString(request).read_session
        with self._lock:
            self._sessions += 1
            name = f"projects/p/locations/us/sessions/s{self._sessions}"
        streams = [proto.ReadStream(name=f"{name}/streams/{number}") for number in range(self.streams)]
        answer: bytes = proto.ReadSession(name=name, table=asked.table, streams=streams).SerializeToString()
        return answer

    def _rows(self, request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
        for count in self.counts:
            yield proto.ReadRowsResponse(row_count=count).SerializeToString()

    def _split(self, request: bytes, _context: grpc.ServicerContext) -> bytes:
        name = proto.SplitReadStreamRequest.FromString(request).name
        answer = proto.SplitReadStreamResponse()
        answer.primary_stream.name, answer.remainder_stream.name = f"{name}.a", f"{name}.b"
        done: bytes = answer.SerializeToString()
        return done

    @property
    def unary(self) -> dict[str, Callable[[bytes, grpc.ServicerContext], bytes]]:
        """The methods with one response."""
        return {"CreateReadSession": self.session, "SplitReadStream": self.split}

    def seen(self, method: str) -> list[Any]:
        """The decoded requests of ``method``, in order."""
        return [proto.REQUESTS[method].FromString(request) for name, request, _ in self.requests if name == method]

    # --- gRPC ---

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        """The handler of a call, which notes its request; None for a method that there is not."""
        method = details.method.rsplit("/", 1)[-1]
        metadata = dict(details.invocation_metadata)

        def note(request: bytes) -> None:
            with self._lock:
                self.requests.append((method, request, metadata))

        def unary(request: bytes, context: grpc.ServicerContext) -> bytes:
            note(request)
            if method not in self.unary:
                return b""
            return self.unary[method](request, context)

        def stream(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            note(request)
            return self.rows(request, context)

        if method == "ReadRows":
            return grpc.unary_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(unary) if method in self.unary or self.answers_anything else None

    # --- REST ---

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:  # noqa: PLR0911  # one for each request
        """Status and body of a REST request."""
        self.rest_requests.append((method, path))
        special = self.rest(method, path, body)
        if special is not None:
            return special
        parts = path.partition("?")[0].removeprefix("/bigquery/v2/projects/").split("/")
        if path == "/ready" or parts[-1] == "datasets":
            return 200, {}
        if method == "POST" and parts[-1] == "tables":
            self.tables[body["tableReference"]["tableId"]] = {"schema": body.get("schema"), "rows": []}
            return 200, {}
        if method == "PATCH":
            self.tables[parts[-1]]["schema"] = body["schema"]
        if method in ("GET", "PATCH") and parts[-2] == "tables":
            return 200, {"schema": self.tables[parts[-1]]["schema"]}
        if method == "DELETE":
            del self.tables[parts[-1]]
            return 204, None
        table = self.tables[parts[-2]]
        if parts[-1] == "insertAll":
            table["rows"] += [row["json"] for row in body["rows"]]
            return 200, {}
        names = [field["name"] for field in table["schema"]["fields"]]
        rows = [{"f": [{"v": row.get(name)} for name in names]} for row in table["rows"]]
        return 200, {"totalRows": str(len(rows)), "rows": rows}


@contextlib.contextmanager
def serving(fake: FakeServer) -> Iterator[tuple[int, int]]:
    """Serve ``fake`` in threads of this process; gives the gRPC and the REST port."""

    class Handlers(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # generic in the stubs only
        def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes] | None:
            return fake.service(details)

    class Rest(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one write per answer: two would wait for each other's acknowledgement

        def _serve(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, body = fake.answer(self.command, self.path, json.loads(data) if data else None)
            text = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815  # the names that http.server looks for

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = grpc.server(ThreadPoolExecutor(32), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((Handlers(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    rest = ThreadingHTTPServer(("127.0.0.1", 0), Rest)
    rest.daemon_threads = True
    thread = threading.Thread(target=rest.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield port, rest.server_address[1]
    finally:
        rest.shutdown()
        thread.join()
        rest.server_close()
        server.stop(0).wait()


# --- quirks ---------------------------------------------------------------------------------------


def hang(fake: FakeServer) -> None:
    """ReadRows sends one response and nothing more, for ever."""

    def rows(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        yield from list(fake._rows(request, context))[:1]
        ended = threading.Event()
        context.add_callback(ended.set)
        ended.wait()

    fake.rows = rows


def crash(fake: FakeServer) -> None:
    """ReadRows sends one response and the process dies, with words on stderr."""

    def rows(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        yield from list(fake._rows(request, context))[:1]
        os.write(2, b"fatal: out of cheese\n")
        os._exit(41)

    fake.rows = rows


def crash_on_odd_tables(fake: FakeServer) -> None:
    """ReadRows kills the process for tables of cases whose id says so."""
    well_behaved = fake.session

    def session(request: bytes, context: grpc.ServicerContext) -> bytes:
        if b"odd" in request:
            os._exit(42)
        return well_behaved(request, context)

    fake.session = session


def endless(fake: FakeServer) -> None:
    """ReadRows sends empty responses for ever."""

    def rows(_request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
        while True:
            yield b""

    fake.rows = rows


def die_at_start(_fake: FakeServer) -> None:
    """The process ends before it has said its ports."""
    sys.stderr.write("cannot load libcheese\n")
    sys.exit(3)


def say_nothing(_fake: FakeServer) -> None:
    """The process never says its ports."""
    signal.pause()


def stubborn(_fake: FakeServer) -> None:
    """The process ignores SIGTERM and has a child that does so too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.signal(15, signal.SIG_IGN); signal.pause()"])
    sys.stdout.write(json.dumps({"event": "child", "port": child.pid}) + "\n")


def no_rest(fake: FakeServer) -> None:
    """REST answers 500 to every request for a table."""
    fake.rest = lambda method, path, body: (500, {"error": {"message": "no tables"}}) if "tables" in path else None


QUIRKS: dict[str, Quirk] = {
    quirk.__name__: quirk
    for quirk in (hang, crash, crash_on_odd_tables, endless, die_at_start, say_nothing, stubborn, no_rest)
}


def main(names: list[str]) -> None:
    """Serve with the named quirks until SIGTERM."""
    fake = FakeServer()
    for name in names:
        QUIRKS[name](fake)
    with serving(fake) as (grpc_port, rest_port):
        sys.stdout.write(json.dumps({"event": "rest.listen", "port": rest_port}) + "\n")
        sys.stdout.write(json.dumps({"event": "grpc.listen", "port": grpc_port}) + "\n")
        sys.stdout.flush()
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
            signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        while True:
            signal.pause()


if __name__ == "__main__":
    main(sys.argv[1:])
