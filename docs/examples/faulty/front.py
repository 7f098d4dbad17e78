"""A proxy for clients that have no option for their endpoint: ``python server.py FAULT python front.py COMMAND…``.

It ends TLS itself, answers every call of BigQuery and of its tokens, and passes the Storage API on to GRPC. It needs
``openssl`` for its certificate. The command gets HTTPS_PROXY and SSL_CERT_FILE, as clients written in Go take them.
"""

import contextlib
import json
import os
import socket
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading

TABLE = {"projectId": "p", "datasetId": "d", "tableId": "t"}
ANSWER = {
    "jobReference": {"projectId": "p", "jobId": "j", "location": "US"}, "status": {"state": "DONE"},
    "configuration": {"jobType": "QUERY", "query": {"query": "x", "destinationTable": TABLE}},
    "statistics": {"query": {"statementType": "SELECT"}}, "jobComplete": True, "totalRows": "4", "pageToken": "x",
    "access_token": "x", "type": "TABLE", "token_type": "Bearer", "expires_in": 3600, "tableReference": TABLE,
    "schema": {"fields": [{"name": "s", "type": "STRING"}]},
}  # fmt: skip
TEXT = json.dumps(ANSWER).encode()
CERTIFICATE = f"{tempfile.mkdtemp()}/pem"
MAKE = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -addext subjectAltName=DNS:*.googleapis.com"
subprocess.run([*MAKE.split(), "-keyout", f"{CERTIFICATE}.key", "-out", CERTIFICATE], check=True, stderr=-3)  # noqa: S603
TLS = {protocol: ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for protocol in ("h2", "http/1.1")}
for protocol, context in TLS.items():
    context.load_cert_chain(CERTIFICATE, f"{CERTIFICATE}.key")
    context.set_alpn_protocols([protocol])


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)


class _Proxy(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        storage = b"storage" in self.request.recv(65536).split()[1]
        self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        inside = TLS["h2" if storage else "http/1.1"].wrap_socket(self.request, server_side=True)
        if not storage:
            inside.recv(65536)
            return inside.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(TEXT), TEXT))
        server = socket.create_connection(("127.0.0.1", int(os.environ["GRPC"].partition(":")[2])))
        threading.Thread(target=_pump, args=(server, inside), daemon=True).start()
        return _pump(inside, server)


front = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Proxy)
threading.Thread(target=front.serve_forever, daemon=True).start()
proxy = f"http://127.0.0.1:{front.server_address[1]}"
os.environ |= {"HTTPS_PROXY": proxy, "SSL_CERT_FILE": CERTIFICATE, "NO_PROXY": ""}
os._exit(subprocess.run(sys.argv[1:], check=False).returncode)  # noqa: S603
