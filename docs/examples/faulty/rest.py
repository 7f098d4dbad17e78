"""The REST server of server.py: every question is about the table p.d.t, which has the column s."""

import http.server
import threading

NAME = b'"tableReference": {"projectId": "p", "datasetId": "d", "tableId": "t"}'


class _Rest(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.wfile.write(b'HTTP/1.0 200 OK\r\n\r\n{"schema": {"fields": [{"name": "s", "type": "STRING"}]}, %b}' % NAME)


def start() -> int:
    """Start it, and return its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Rest)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port
