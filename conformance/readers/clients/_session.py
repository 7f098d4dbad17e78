"""The objects that all clients share: one google-cloud-bigquery-storage client per worker process, and what answers
its calls.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from conformance.readers.fullread import FullRead
from conformance.readers.info import Read, ReaderInfo, Takes

if TYPE_CHECKING:
    from conformance.readers.oneread import OneRead

T = TypeVar("T")

CALL_SECONDS: Final = 600.0
"""Deadline in seconds of one call of a client. The deadline of the pool, which ends the process, is shorter."""


def client_info(name: str, title: str, **others: Any) -> ReaderInfo:
    """The facts about one way to read with google-cloud-bigquery-storage; ``others`` replace the common ones."""
    facts: dict[str, Any] = {
        "package": "google-cloud-bigquery-storage",
        "takes": Takes.SERVER,
        "schemaless_when_empty": True,
    }
    return ReaderInfo(name, title, **facts | others)


def loading(read: Read) -> Callable[[], Read]:
    """The ``load`` function of a reader: it imports the client and returns ``read``."""

    def load() -> Read:
        storage_client()
        return read

    return load


@functools.cache
def reads() -> OneRead:
    """What answers the calls of this process."""
    from conformance.readers.oneread import OneRead  # noqa: PLC0415  # a worker of decoders starts without gRPC

    return OneRead()


@functools.cache
def storage_client() -> Any:
    """The client of this process, whose calls are answered inside the process."""
    from google.cloud import bigquery_storage_v1  # noqa: PLC0415  # only a worker imports a library under test
    from google.cloud.bigquery_storage_v1.services.big_query_read import transports  # noqa: PLC0415  # as above

    from conformance.readers.clients._channel import RecordedChannel  # noqa: PLC0415  # as in reads()

    channel = RecordedChannel(reads())
    client: Callable[..., Any] = bigquery_storage_v1.BigQueryReadClient
    return client(transport=transports.BigQueryReadGrpcTransport(channel=channel))


def replayed_session(read: FullRead) -> Any:
    """Serve a recorded read and create its session through the client, with the recorded request."""
    reads().play(read)
    return _session_of(read)


# The readers of a worker request one read in turn, and get the same bytes.
@functools.lru_cache(maxsize=1)
def _session_of(read: FullRead) -> Any:
    from google.cloud.bigquery_storage_v1 import types  # noqa: PLC0415  # only a worker imports a library under test

    request = types.CreateReadSessionRequest.deserialize(read.request)
    return storage_client().create_read_session(request=request, retry=None, timeout=CALL_SECONDS)


def rows_of(stream: str) -> Any:
    """The client's ReadRowsStream over one stream, from row 0."""
    return storage_client().read_rows(stream, retry=None, timeout=CALL_SECONDS)


def each_stream(read: FullRead, do: Callable[[Any, Any], T]) -> list[T]:
    """The result of ``do`` for each stream of the replayed session, given the client's ReadRowsStream and the
    session.
    """
    with without_deprecations():
        session = replayed_session(read)
        return [do(rows_of(stream.name), session) for stream in session.streams]


@contextmanager
def without_deprecations() -> Iterator[None]:
    """Silence one warning that every page causes: it recommends pandas-gbq, which is a different reader."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Retrieving .* is deprecated", category=PendingDeprecationWarning)
        yield
