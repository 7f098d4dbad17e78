"""What the tests of the replay server ask it: JSON over HTTP, and reads over gRPC."""

from __future__ import annotations

import contextlib
import json
import urllib.error
import urllib.request
from typing import Any

import grpc

from conformance.contract import proto
from conformance.replay.loading import held
from conformance.replay.server import Replay
from conformance.replay.shelf import Held
from tests.readers.recorded import SCHEMA, batch, bytes_of, case, create, of_calls, read, response, stream

__all__ = ["RESPONSES", "at_once", "http", "recorded", "rows", "session"]

RESPONSES = (
    response(bytes_of(batch(1, 2)), 2, schema=bytes_of(SCHEMA)),
    response(bytes_of(batch(3)), 1),
    response(bytes_of(batch(4, 5, 6)), 3),
)


async def at_once(_seconds: float) -> None:
    """A clock that need not wait."""


def recorded(name: str = "") -> Held:
    """One stream of three responses with two, one and three rows."""
    return held(case(), of_calls(create(bytes_of(SCHEMA), [stream()]), read(stream(), RESPONSES)), name=name)


def http(server: Replay, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """A request to the REST port."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{server.addresses['rest']}{path}", data, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def session(channel: grpc.Channel, table: str) -> Any:
    """A session of a table."""
    request = proto.CreateReadSessionRequest(parent="projects/p")
    request.read_session.table, request.read_session.data_format = table, proto.DATA_FORMAT["ARROW"]
    method = channel.unary_unary(f"{proto.SERVICE}CreateReadSession", None, None)
    return proto.ReadSession.FromString(method(request.SerializeToString()))


def rows(channel: grpc.Channel, name: str, offset: int = 0) -> tuple[list[int], str]:
    """The row counts of the responses to a read, and its status."""
    request = proto.ReadRowsRequest(read_stream=name, offset=offset).SerializeToString()
    call = channel.unary_stream(f"{proto.SERVICE}ReadRows", None, None)(request)
    counts: list[int] = []
    with contextlib.suppress(grpc.RpcError):
        counts.extend(proto.ReadRowsResponse.FromString(data).row_count for data in call)
    return counts, call.code().name
