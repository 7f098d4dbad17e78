"""What the reference checks of its clients before it answers: the token, the role, the quota.

A test of a client, or of this suite, so has a server that refuses like the service, without credentials of anybody.
Times are counted in calls and not in seconds, so that each run is refused at the same call.
"""

from __future__ import annotations

import dataclasses
import re
import ssl
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import grpc

from conformance.contain.ciphers import require_ciphers
from conformance.contract.rpcstatus import TRAILER, quota_status
from conformance.disk.files import LARGEST_TEXT, read_whole
from conformance.reference.statuses import Refusal

__all__ = ["HTTP_STATUS", "Guard", "ServerTls"]

HTTP_STATUS: Final = {
    grpc.StatusCode.UNAUTHENTICATED: (401, "authError"),
    grpc.StatusCode.PERMISSION_DENIED: (403, "accessDenied"),
    grpc.StatusCode.RESOURCE_EXHAUSTED: (403, "quotaExceeded"),
}
"""The HTTP status and reason of each refusal, as https://cloud.google.com/bigquery/docs/error-messages lists them."""


_JOB: Final = re.compile(r"^POST .*/projects/[^/]+/(?:jobs|queries)\b")
"""Requests that need the permission bigquery.jobs.create."""


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
        """The credentials of a gRPC listener; raises :class:`OSError` if a file cannot be read, or no cipher used."""
        try:
            require_ciphers()
        except ValueError as error:
            raise OSError(str(error)) from None
        pair = (read_whole(self.key, LARGEST_TEXT), read_whole(self.certificate, LARGEST_TEXT))
        clients = None if self.client_ca is None else read_whole(self.client_ca, LARGEST_TEXT)
        return grpc.ssl_server_credentials([pair], root_certificates=clients, require_client_auth=clients is not None)


@dataclasses.dataclass(slots=True)
class Guard:
    """Refuses a gRPC call or REST request, or lets it through.

    ``tokens`` returns those that are accepted; an empty list accepts everybody. ``echo`` repeats the received token in
    every refusal, as some servers do. ``without_role`` refuses all gRPC calls, ``without_jobs`` all load jobs and
    queries over REST. A token expires after ``token_calls`` gRPC calls with it, and after ``token_requests`` REST
    requests. After ``quota_calls`` gRPC calls the next ``refused_calls`` ones are refused, and the server says that it
    can be asked again in ``retry`` seconds. In the same way ``quota_requests`` and ``refused_requests`` count what REST
    requests write. None means: never.
    """

    tokens: Callable[[], Iterable[str]] = tuple
    echo: bool = False
    without_role: bool = False
    without_jobs: bool = False
    token_calls: int | None = None
    token_requests: int | None = None
    quota_calls: int | None = None
    refused_calls: int | None = None
    quota_requests: int | None = None
    refused_requests: int | None = None
    retry: float = 0.01
    _used: dict[tuple[bool, str], int] = dataclasses.field(default_factory=dict)
    _calls: int = 0
    _requests: int = 0
    _lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def check(self, authorization: str, *, rpc: bool, asked: str = "") -> Refusal | None:
        """The refusal of a request with this header; ``rpc`` is true for a gRPC call, ``asked`` is that of REST."""
        with self._lock:
            refusal = self._who(authorization, rpc=rpc, asked=asked) or self._often(rpc=rpc, asked=asked)
        if refusal is not None and self.echo:
            said = f"{refusal.details} (authorization: {authorization})"
            more = (*refusal.trailers, ("x-echo", authorization))
            return Refusal(refusal.code, said, trailers=more)
        return refusal

    def _who(self, authorization: str, *, rpc: bool, asked: str) -> Refusal | None:
        accepted = list(self.tokens())
        token = authorization.removeprefix("Bearer ")
        if accepted and (not authorization.startswith("Bearer ") or token not in accepted):
            said = "Request had invalid authentication credentials. Expected OAuth 2 access token."
            return Refusal(grpc.StatusCode.UNAUTHENTICATED, said)
        self._used[rpc, token] = self._used.get((rpc, token), 0) + 1
        most = self.token_calls if rpc else self.token_requests
        if most is not None and self._used[rpc, token] > most:
            return Refusal(grpc.StatusCode.UNAUTHENTICATED, "The access token has expired.")
        lacking = ""
        if rpc and self.without_role:
            lacking = "request failed: the user does not have 'bigquery.readsessions.create' permission"
        if self.without_jobs and _JOB.search(asked):
            lacking = "Access Denied: User does not have bigquery.jobs.create permission in project"
        return Refusal(grpc.StatusCode.PERMISSION_DENIED, lacking) if lacking else None

    def _often(self, *, rpc: bool, asked: str) -> Refusal | None:
        if rpc:
            self._calls += 1
            said = "Quota exceeded: Your project exceeded quota for concurrent read rows requests"
            return self._beyond(self._calls, self.quota_calls, self.refused_calls, said)
        if asked.startswith("GET "):
            return None
        self._requests += 1
        said = "Quota exceeded: Your project exceeded quota for API requests per user"
        return self._beyond(self._requests, self.quota_requests, self.refused_requests, said)

    def _beyond(self, count: int, most: int | None, refused: int | None, said: str) -> Refusal | None:
        if most is None or count <= most or (refused is not None and count > most + refused):
            return None
        code = grpc.StatusCode.RESOURCE_EXHAUSTED
        return Refusal(code, said, trailers=((TRAILER, quota_status(code.value[0], said, retry=self.retry)),))
