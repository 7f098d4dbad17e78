"""The channel inside the process of a client: the client cannot tell it from a connection, whatever the bytes are."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import grpc
import pytest
from google.cloud.bigquery_storage_v1 import BigQueryReadClient
from google.cloud.bigquery_storage_v1.services.big_query_read.transports import BigQueryReadGrpcTransport
from google.cloud.bigquery_storage_v1.types import CreateReadSessionRequest

from conformance.readers import full_reads
from conformance.readers.clients._channel import RecordedChannel
from conformance.readers.fullread import FullRead, RecordedStream
from conformance.readers.oneread import OneRead, OneReadServer
from tests.readers.recorded import EOS, batch, bytes_of, case, exchange

BROKEN = b"\xff\xff"
GOOD = full_reads(case(), exchange(bytes_of(batch(1, 2, 3)) + EOS, bytes_of(batch(4)), counts=[7, 1]))[0]
RESPONSES = GOOD.streams[0].responses


def answering(*responses: bytes) -> FullRead:
    """The read with these responses instead."""
    return dataclasses.replace(GOOD, streams=(RecordedStream(GOOD.streams[0].name, responses),))


READS = {
    "good": GOOD,
    "no response": answering(),
    "an empty response": answering(RESPONSES[0], b""),
    "an undecodable response": answering(BROKEN, *RESPONSES),
    "an undecodable response after another": answering(RESPONSES[0], BROKEN, RESPONSES[1]),
    "an undecodable session": dataclasses.replace(GOOD, session=BROKEN),
    "an empty session": dataclasses.replace(GOOD, session=b""),
    "a stream that is not recorded": dataclasses.replace(GOOD, streams=(RecordedStream("other", RESPONSES),)),
}


def came(channel: grpc.Channel) -> Sequence[Any]:
    """What a client makes of a read: its rows page by page, and the error that ended them."""
    client = BigQueryReadClient(transport=BigQueryReadGrpcTransport(channel=channel))
    found: list[Any] = []
    try:
        request = CreateReadSessionRequest.deserialize(GOOD.request)
        session = client.create_read_session(request=request, retry=None, timeout=60)
        for stream in session.streams:
            pages = client.read_rows(stream.name, retry=None, timeout=60).rows(session).pages
            found.extend(page.to_arrow().to_pylist() for page in pages)
    except Exception as error:  # noqa: BLE001  # it is what is compared
        found.append((type(error), str(error)))
    return found


@pytest.mark.parametrize("name", READS)
def test_a_client_gets_the_same_as_over_a_connection(name: str) -> None:
    """Rows and errors are those that the client gets from the server of the same read."""
    reads, server = OneRead(), OneReadServer()
    reads.play(READS[name])
    server.play(READS[name])

    inside = came(RecordedChannel(reads))
    with grpc.insecure_channel(server.address) as channel:
        outside = came(channel)
    server.close()

    assert inside == outside
    assert inside or name == "no response"


def test_a_cancelled_call_gives_no_further_response() -> None:
    """A client that cancels between two responses gets CANCELLED instead of the second."""
    reads = OneRead()
    reads.play(GOOD)
    client = BigQueryReadClient(transport=BigQueryReadGrpcTransport(channel=RecordedChannel(reads)))
    call = client.transport.read_rows({"read_stream": GOOD.streams[0].name})

    first = next(call)
    call.cancel()

    assert first.row_count == 7
    with pytest.raises(grpc.RpcError):
        next(call)
    assert call.code() is grpc.StatusCode.CANCELLED
