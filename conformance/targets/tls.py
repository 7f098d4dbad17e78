"""TLS to a running server: what both clients need of the certificates, and the reason why no connection can be made.

gRPC says no more than "failed to connect" and tries until the deadline, so the suite opens one connection itself first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import ssl
from pathlib import Path
from typing import Final

import grpc

from conformance.contain.ciphers import require_ciphers
from conformance.contain.text import safe
from conformance.disk.files import LARGEST_TEXT, read_whole
from conformance.targets.endpoint import Tls
from conformance.targets.targeterrors import TargetError

__all__ = ["SecureLine", "explained", "http2_refusal"]

_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_SETTINGS: Final = 4
_NO_SETTINGS: Final = bytes([0, 0, 0, _SETTINGS, 0, 0, 0, 0, 0])
"""A SETTINGS frame without settings consists of its header only (RFC 9113, section 4.1)."""
_ALERT: Final = b"\x15\x03"
"""The beginning of a TLS alert: the answer of a server that expected a handshake (RFC 8446, section 5.1)."""

SILENT: Final = "no gRPC connection"
"""The reason while a server starts: the address does not answer as gRPC does."""

ANOTHER: Final = "HTTP/1.1 is spoken there and not gRPC, as by a REST API"
_HTTP1: Final = b"HTTP/1."
_STATUS: Final = slice(len(b"HTTP/1.1 "), len(b"HTTP/1.1 200"))
_NOT_YET: Final = (b"502", b"503", b"504")

NOBODY: Final = "nothing listens there (Connection refused)"

_WANTED_CERTIFICATE: Final = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE")
_ENDED: Final = ("EOF",)
_UNKNOWN_CA: Final = ("UNKNOWN_CA", "BAD_CERTIFICATE", "CERTIFICATE_UNKNOWN")
_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")
_WRONG_NAME: Final = frozenset({62, 64})
"""X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH (openssl/x509_vfy.h)."""
_OUT_OF_DATE: Final = frozenset({9, 10})
"""X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED."""


@dataclasses.dataclass(frozen=True, slots=True)
class SecureLine:
    """The TLS of a target file with its files read: ``context`` for our own sockets, ``credentials`` for gRPC."""

    tls: Tls
    context: ssl.SSLContext
    credentials: grpc.ChannelCredentials

    @classmethod
    def of(cls, tls: Tls, here: Path) -> SecureLine:
        """Read the files of ``tls``, relative to ``here``.

        Raises:
            TargetError: one of them is not PEM, certificate and key do not belong together, or the environment names
                no cipher that gRPC has.
        """
        try:
            require_ciphers()
        except ValueError as error:
            raise TargetError(str(error)) from None
        ca, certificate, key = (here / name if name else None for name in (tls.ca, tls.certificate, tls.key))
        context = ssl.create_default_context()
        try:
            if ca is not None:
                context = ssl.create_default_context(cafile=ca)
            if certificate is not None:
                # A key that is encrypted would be asked for at the terminal.
                context.load_cert_chain(certificate, key, password=lambda: "")
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            wrong = f"ca {tls.ca!r}" if certificate is None or not context.get_ca_certs() else ""
            named = wrong or f"certificate {tls.certificate!r} and key {tls.key!r}"
            said = error.reason if isinstance(error, ssl.SSLError) and error.reason else str(error)
            raise TargetError(f"[endpoint.tls]: expected PEM files that belong together: {named}: {said}") from None
        read = [None if path is None else read_whole(path, LARGEST_TEXT) for path in (ca, key, certificate)]
        return cls(tls, context, grpc.ssl_channel_credentials(*read))

    def wrap(self, connected: socket.socket, host: str, *, http2: bool) -> ssl.SSLSocket:
        """``connected`` after a handshake within its timeout; raises :class:`OSError`."""
        self.context.set_alpn_protocols(["h2" if http2 else "http/1.1"])
        return self.context.wrap_socket(connected, server_hostname=self.tls.server_name or host)


def explained(error: Exception, secure: SecureLine | None, host: str) -> str:
    """The reason why a connection to ``host`` failed, in words that name the key to change."""
    tls = secure.tls if secure is not None else Tls()
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate(error, tls, host)
    if isinstance(error, ssl.SSLError):
        return _alert((getattr(error, "reason", "") or str(error)).upper(), tls)
    if isinstance(error, ConnectionRefusedError):
        return NOBODY
    said = error.strerror if isinstance(error, OSError) else ""
    return safe(said or str(error)) or type(error).__name__


def _certificate(error: ssl.SSLCertVerificationError, tls: Tls, host: str) -> str:
    """The reason why the server's certificate is not trusted."""
    if error.verify_code in _WRONG_NAME:
        name = tls.server_name or host
        return f"the server's certificate is for another name than {name!r}: [endpoint.tls] server_name"
    if error.verify_code in _OUT_OF_DATE:
        return f"the server's certificate is not valid today: {error.verify_message}"
    by = f"signed by {tls.ca!r}" if tls.ca else "signed by an authority that this system knows"
    return f"the server's certificate is not {by} ({error.verify_message}): [endpoint.tls] ca"


def _client(tls: Tls) -> str:
    return f"another client certificate than {tls.certificate!r}" if tls.certificate else "a client certificate"


def _alert(reason: str, tls: Tls) -> str:
    """The reason for the end of a connection, which OpenSSL calls ``reason``."""
    for words, meaning in (
        (_UNKNOWN_CA, f"the server does not accept the client certificate ({reason}): [endpoint.tls] certificate"),
        (_WANTED_CERTIFICATE, f"the server requires {_client(tls)} ({reason}): [endpoint.tls] certificate"),
        # Servers on BoringSSL, as grpcio's is, send no alert.
        (
            _ENDED,
            f"the server ended the connection; it may require {_client(tls)}: [endpoint.tls] certificate",
        ),
        (_NO_TLS, f"the server does not speak TLS there ({reason}): [endpoint.tls]"),
    ):
        if any(word in reason for word in words):
            return meaning
    return f"no TLS connection ({reason})"


def http2_refusal(endpoint: str, seconds: float, secure: SecureLine | None = None) -> tuple[str, bool]:
    """Why no server at ``endpoint`` answers the HTTP/2 preface with its settings; empty if one does.

    The second value is true if waiting cannot help, unless a server is just starting there. Each step has ``seconds``.

    A gRPC channel becomes ready in the same way (RFC 9113, section 3.4). It is not used here, because a thread of the
    library watches a channel, and prints a traceback if the channel is closed in the meantime.
    """
    host = endpoint.rpartition(":")[0].strip("[]")
    head = b""
    try:
        with _connected(endpoint, seconds) as connection:
            line = connection if secure is None else secure.wrap(connection, host, http2=True)
            with line:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may have ended at any byte
                    line.sendall(_PREFACE + _NO_SETTINGS)
                    while len(head) < _most(head) and (more := line.recv(_most(head) - len(head))):
                        head += more
                if secure is not None and not head:
                    raise ssl.SSLEOFError(ssl.SSL_ERROR_EOF, "EOF")  # as other servers end it
    except TimeoutError:
        return f"{SILENT}: the server accepts it and sends nothing", False
    except (OSError, ValueError) as error:
        return explained(error, secure, host), True
    if len(head) == len(_NO_SETTINGS) and head[3] == _SETTINGS:
        return "", False
    if secure is None and head.startswith(_ALERT):
        return "the server speaks TLS there, and the target file has no [endpoint.tls]", True
    # A gateway answers so while the server behind it starts.
    return (ANOTHER, True) if head.startswith(_HTTP1) and head[_STATUS] not in _NOT_YET else (SILENT, False)


def _most(head: bytes) -> int:
    """The bytes that tell what answers: the head of an HTTP/2 frame, or the status of an HTTP/1 answer."""
    return _STATUS.stop if head.startswith(_HTTP1) else len(_NO_SETTINGS)


def _connected(endpoint: str, seconds: float) -> socket.socket:
    """A connection to ``host:port``, or to the socket of ``unix:PATH``."""
    if not endpoint.startswith("unix:"):
        host, _, port = endpoint.rpartition(":")
        return socket.create_connection((host.strip("[]"), int(port)), timeout=seconds)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(seconds)
        connection.connect(endpoint.removeprefix("unix:"))
    except BaseException:
        connection.close()
        raise
    return connection
