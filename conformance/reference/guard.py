"""What the reference checks of its clients before it answers: the token, the role, the quota.

A test of a client, or of this suite, so has a server that refuses like the service, without credentials of anybody.
Times are counted in calls and not in seconds, so that each run is refused at the same call.
"""

from __future__ import annotations

import dataclasses
import ssl
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import grpc

from conformance.reference.refusals import Refusal
from conformance.targets.rpcstatus import TRAILER, quota_status

__all__ = ["HTTP_STATUS", "Guard", "ServerTls"]

HTTP_STATUS: Final = {
    grpc.StatusCode.UNAUTHENTICATED: (401, "authError"),
    grpc.StatusCode.PERMISSION_DENIED: (403, "accessDenied"),
    grpc.StatusCode.RESOURCE_EXHAUSTED: (403, "quotaExceeded"),
}
"""The HTTP status and reason of each refusal, as https://cloud.google.com/bigquery/docs/error-messages lists them."""


@dataclasses.dataclass(frozen=True, slots=True)
class ServerTls:
    """PEM files: the server's certificate and key, and the authority of client certificates if it asks for them."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def context(self) -> ssl.SSLContext:
        """The context of a listening socket; raises :class:`OSError` if a file cannot be used."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        if self.client_ca is not None:
            context.load_verify_locations(self.client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def credentials(self) -> grpc.ServerCredentials:
        """The credentials of a gRPC listener; raises :class:`OSError` if a file cannot be read."""
        pair = (self.key.read_bytes(), self.certificate.read_bytes())
        clients = None if self.client_ca is None else self.client_ca.read_bytes()
        return grpc.ssl_server_credentials([pair], root_certificates=clients, require_client_auth=clients is not None)


@dataclasses.dataclass(slots=True)
class Guard:
    """Refuses a gRPC call or REST request, or lets it through.

    ``tokens`` returns those that are accepted; an empty list accepts everybody. ``echo`` repeats the received token in
    every refusal, as some servers do. ``without_role`` refuses all gRPC calls. A token expires after ``token_calls``
    gRPC calls with it. After ``quota_calls`` gRPC calls the next ``refused_calls`` ones are refused, and the server
    says that it can be asked again in ``retry`` seconds. None means: never.
    """

    tokens: Callable[[], Iterable[str]] = tuple
    echo: bool = False
    without_role: bool = False
    token_calls: int | None = None
    quota_calls: int | None = None
    refused_calls: int | None = None
    retry: float = 0.01
    _used: dict[str, int] = dataclasses.field(default_factory=dict)
    _calls: int = 0
    _lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def check(self, authorization: str, *, rpc: bool) -> Refusal | None:
        """The refusal of a request with this header; ``rpc`` is true for a gRPC call."""
        with self._lock:
            refusal = self._who(authorization, rpc=rpc) or (self._often() if rpc else None)
        if refusal is not None and self.echo:
            said = f"{refusal.details} (authorization: {authorization})"
            more = (*refusal.trailers, ("x-echo", authorization))
            return Refusal(refusal.code, said, trailers=more)
        return refusal

    def _who(self, authorization: str, *, rpc: bool) -> Refusal | None:
        accepted = list(self.tokens())
        token = authorization.removeprefix("Bearer ")
        if accepted and (not authorization.startswith("Bearer ") or token not in accepted):
            said = "Request had invalid authentication credentials. Expected OAuth 2 access token."
            return Refusal(grpc.StatusCode.UNAUTHENTICATED, said)
        if not rpc:
            return None
        self._used[token] = self._used.get(token, 0) + 1
        if self.token_calls is not None and self._used[token] > self.token_calls:
            return Refusal(grpc.StatusCode.UNAUTHENTICATED, "The access token has expired.")
        if self.without_role:
            said = "request failed: the user does not have 'bigquery.readsessions.create' permission"
            return Refusal(grpc.StatusCode.PERMISSION_DENIED, said)
        return None

    def _often(self) -> Refusal | None:
        self._calls += 1
        if self.quota_calls is None or self._calls <= self.quota_calls:
            return None
        if self.refused_calls is not None and self._calls > self.quota_calls + self.refused_calls:
            return None
        said = "Quota exceeded: Your project exceeded quota for concurrent read rows requests"
        code = grpc.StatusCode.RESOURCE_EXHAUSTED
        return Refusal(code, said, trailers=((TRAILER, quota_status(code.value[0], said, retry=self.retry)),))
