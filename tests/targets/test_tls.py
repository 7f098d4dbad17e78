"""A connection with TLS is made as the target file says, and one that cannot be made is explained."""

from __future__ import annotations

import ssl
import time
from pathlib import Path

import pytest

from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.reference.guard import ServerTls
from conformance.targets.endpoint import Tls
from conformance.targets.targeterrors import TargetError
from conformance.targets.tls import SecureLine, explained, http2_refusal
from conformance.targets.transport import HttpClient
from tests.certificates import make_certificates
from tests.patience import LONG
from tests.targets.raw_server import Serve, answering


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the certificates."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def test_requests_share_one_connection(certificates: Path) -> None:
    """The session tickets that follow a handshake of TLS 1.3 are no data, and do not end the connection."""
    tls = ServerTls(certificates / "server.pem", certificates / "server.key")
    secure = SecureLine.of(Tls(ca="ca.pem"), certificates)
    with ReferenceServer(tls=tls) as server:
        client = HttpClient(f"https://{server.rest_endpoint}", secure=secure)
        used = set()
        for _ in range(3):
            answer = client.exchange("GET", "/readyz", until=time.monotonic() + LONG, limit=1000)
            used.add(id(client._connection))
            assert answer.status == 200
        client.close()

    assert len(used) == 1


def test_each_side_may_expect_no_tls(certificates: Path) -> None:
    """The sentence says which side speaks TLS, and waiting does not help."""
    secure = SecureLine.of(Tls(ca="ca.pem"), certificates)
    tls = ServerTls(certificates / "server.pem", certificates / "server.key")
    with ReferenceServer() as plain, ReferenceServer(tls=tls) as secured:
        to_plain = http2_refusal(plain.grpc_endpoint, 5, secure)
        to_secured = http2_refusal(secured.grpc_endpoint, 5)
        fitting = http2_refusal(secured.grpc_endpoint, 5, secure)

    assert to_plain[0].startswith("the server does not speak TLS there (")
    assert to_plain[0].endswith("): [endpoint.tls]")
    assert to_secured[0] in (
        "the server speaks TLS there, and the target file has no [endpoint.tls]",
        "no gRPC connection",  # grpcio's server may end the connection without an alert
    )
    assert fitting == ("", False)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"HTTP/1.0 404 Not Found\r\n\r\n"])
def test_another_protocol_is_named_and_final(serve: Serve, answer: bytes) -> None:
    """A REST API at the port of gRPC is reported at once: it will not turn into a gRPC server."""
    address = serve(answering(answer)).base.removeprefix("http://")

    assert http2_refusal(address, LONG) == ("HTTP/1.1 is spoken there and not gRPC, as by a REST API", True)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 503 Down\r\n\r\n", b"HTTP/1.1 502", b"<!DOCTYPE HTML>", b"?"])
def test_a_server_that_may_still_start_is_asked_again(serve: Serve, answer: bytes) -> None:
    """A gateway answers so while its server starts, and who ends the connection within its first bytes says nothing."""
    address = serve(answering(answer)).base.removeprefix("http://")

    assert http2_refusal(address, LONG) == ("no gRPC connection", False)


def test_a_silent_server_may_be_starting(serve: Serve) -> None:
    """It accepts the connection and sends nothing within the time."""
    address = serve(lambda peer: peer.wait()).base.removeprefix("http://")

    assert http2_refusal(address, 0.01) == ("no gRPC connection: the server accepts it and sends nothing", False)


def _refused(code: int, message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, message)
    error.verify_code, error.verify_message = code, message
    return error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (_refused(10, "certificate has expired"), "is not valid today: certificate has expired"),
        (_refused(19, "self-signed"), "is not signed by 'ca.pem' (self-signed): [endpoint.tls] ca"),
        (_refused(62, "mismatch"), "is for another name than 'near': [endpoint.tls] server_name"),
        (ssl.SSLError(1, "[SSL: TLSV1_ALERT_UNKNOWN_CA]"), "the server does not accept the client certificate ("),
        (ssl.SSLError(1, "TLSV13_ALERT_CERTIFICATE_REQUIRED"), "the server requires a client certificate ("),
        (ssl.SSLError(1, "NO_PROTOCOLS_AVAILABLE"), "no TLS connection (NO_PROTOCOLS_AVAILABLE)"),
        (ConnectionRefusedError(), "nothing listens there (Connection refused)"),
        (OSError(113, "No route to host"), "No route to host"),
        (ValueError(), "ValueError"),
    ],
)
def test_a_failure_is_explained(certificates: Path, error: Exception, sentence: str) -> None:
    """The words name the key to change, if there is one."""
    secure = SecureLine.of(Tls(ca="ca.pem", server_name="near"), certificates)

    assert sentence in explained(error, secure, "far")


@pytest.mark.parametrize(
    ("tls", "named"),
    [
        (Tls(ca="client.key"), "ca 'client.key'"),
        (Tls(ca="ca.pem", certificate="client.pem", key="server.key"), "certificate 'client.pem' and key 'server.key'"),
    ],
)
def test_files_that_do_not_fit_are_named(certificates: Path, tls: Tls, named: str) -> None:
    """One sentence, before any connection."""
    with pytest.raises(TargetError) as raised:
        SecureLine.of(tls, certificates)

    assert f"expected PEM files that belong together: {named}: " in str(raised.value)


def test_ciphers_that_grpc_lacks_are_named_on_both_sides(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a server that works would be judged dead, and one of the suite's own would not say why it ends."""
    monkeypatch.setenv("GRPC_SSL_CIPHER_SUITES", "xyz")
    tls = ServerTls(certificates / "server.pem", certificates / "server.key")

    with pytest.raises(TargetError, match="expected GRPC_SSL_CIPHER_SUITES to name a cipher"):
        SecureLine.of(Tls(ca="ca.pem"), certificates)
    with pytest.raises(OSError, match="expected GRPC_SSL_CIPHER_SUITES to name a cipher"):
        ReferenceServer(tls=tls)
