"""The proxy before a server of any kind: connections to the service's hosts reach it, for as long as it is open."""

from __future__ import annotations

import http.client
import shutil
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import grpc
import pytest

from conformance.contain.jsonhttp import JsonServer
from conformance.contract import proto
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.replay.certificates import STORAGE
from conformance.replay.serverproxy import ServerProxy

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")

REST = "bigquery.googleapis.com"


@pytest.fixture(scope="module")
def proxy() -> Iterator[ServerProxy]:
    """One authority for all tests."""
    with ServerProxy() as opened:
        yield opened


@pytest.fixture
def rest() -> Iterator[JsonServer]:
    """A server that answers with the path that it was asked for."""
    server = JsonServer(lambda _method, target, _headers, _body: (200, {"asked": target}))
    server.start()
    yield server
    server.stop()


def asked(proxy: ServerProxy, address: str, host: str) -> bytes:
    """The body of an answer of a host, through the proxy at an address."""
    at = urlsplit(address)
    secure = ssl.create_default_context(cafile=str(proxy.ca))
    connection = http.client.HTTPSConnection(at.hostname or "", at.port, context=secure, timeout=30)
    connection.set_tunnel(host, 443)
    try:
        connection.request("GET", "/bigquery/v2/projects/p")
        return connection.getresponse().read()
    finally:
        connection.close()


def test_requests_to_the_rest_host_reach_the_server(proxy: ServerProxy, rest: JsonServer) -> None:
    """Over TLS of the proxy's own authority."""
    with proxy.before(grpc=1, rest=rest.port) as address:
        assert asked(proxy, address, REST) == b'{"asked": "/bigquery/v2/projects/p"}'


def test_calls_to_the_storage_host_reach_the_server(proxy: ServerProxy) -> None:
    """The status is the server's."""
    authority = grpc.ssl_channel_credentials(proxy.ca.read_bytes())
    with ReferenceServer() as server, proxy.before(grpc=server.grpc_port, rest=1) as address:
        at = urlsplit(address).netloc
        with grpc.secure_channel(f"{STORAGE}:443", authority, [("grpc.http_proxy", f"http://{at}")]) as channel:
            call = channel.unary_unary(f"/{proto.SERVICE.strip('/')}/CreateReadSession")
            with pytest.raises(grpc.RpcError) as ended:
                call(b"", timeout=60)

    assert ended.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_another_host_is_refused(proxy: ServerProxy) -> None:
    """Nothing leaves the machine."""
    with proxy.before(grpc=1, rest=1) as address, pytest.raises(OSError, match="403"):
        asked(proxy, address, "example.com")


def test_a_proxy_ends_with_its_server(proxy: ServerProxy, rest: JsonServer) -> None:
    """A client that asks later finds nobody."""
    with proxy.before(grpc=1, rest=rest.port) as address:
        pass

    with pytest.raises(ConnectionRefusedError):
        asked(proxy, address, REST)
