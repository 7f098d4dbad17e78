"""Mutants of behaviour: each shows its own fault through a real channel, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import pytest

from conformance.contract import proto
from conformance.protocols.storage_read.reference.mutants import MUTANTS, service_class
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.protocols.storage_read.reference.service import ReadService
from tests.protocols.storage_read.reference.client import Client, connected, field, schema_of, table_name

ROWS = 30


def _code(call: Callable[[], Any]) -> str:
    try:
        call()
    except grpc.RpcError as error:
        return str(error.code().name)
    return "OK"


def _expires(client: Client) -> Any:
    return client.session("t").HasField("expire_time")


def _first_stream(client: Client) -> str:
    return str(client.session("t", max_streams=1).streams[0].name)


def _swapped(client: Client) -> Any:
    return client.rows(client.session("t", selected_fields=["other", "id"], max_streams=1))[1]


def _split_ids(client: Client) -> Any:
    session = client.session("t", max_streams=1)
    answer = client.split(session.streams[0].name, 0.5)
    children = (answer.primary_stream.name, answer.remainder_stream.name)
    return sum(len(client.ids(session, child)) for child in children)


def _compressed_size(client: Client) -> Any:
    name = client.session("t", max_streams=1, buffer_compression="ZSTD", row_restriction="id < 1").streams[0].name
    plain = client.session("t", max_streams=1, row_restriction="id < 1").streams[0].name
    sizes = [len(client.read(it)[0].arrow_record_batch.serialized_record_batch) for it in (name, plain)]
    return sizes[0] != sizes[1]


# The request, the answer of the reference, the answer of the mutant.
FAULTS: dict[str, tuple[Callable[[Client], Any], Any, Any]] = {
    "session.no-streams": (lambda client: len(client.session("t").streams), 2, 0),
    "session.one-stream-only": (lambda client: _code(lambda: client.session("t", max_streams=2)), "OK", "UNKNOWN"),
    "session.no-expire-time": (_expires, True, False),
    "offset.ignored": (lambda client: len(client.ids(client.session("t", max_streams=1), None, 20)), 10, 30),
    "offset.beyond-accepted": (
        lambda client: _code(lambda: client.read(_first_stream(client), 99)),
        "FAILED_PRECONDITION",
        "OK",
    ),
    "rows.count-unset": (lambda client: sum(it.row_count for it in client.read(_first_stream(client))), 30, 0),
    "rows.schema-never": (
        lambda client: client.read(_first_stream(client))[0].HasField("arrow_schema"),
        True,
        False,
    ),
    "rows.last-response-missing": (lambda client: len(client.read(_first_stream(client))), 4, 3),
    "projection.values-swapped": (_swapped, {"id": 1, "other": -1}, {"id": -1, "other": 1}),
    "projection.unknown-ignored": (
        lambda client: _code(lambda: client.session("t", selected_fields=["id", "nosuch"])),
        "INVALID_ARGUMENT",
        "OK",
    ),
    "schema.all-nullable": (lambda client: schema_of(client.session("t")).field("id").nullable, False, True),
    "restriction.refused-ignored": (
        lambda client: _code(lambda: client.session("t", row_restriction="id =")),
        "INVALID_ARGUMENT",
        "OK",
    ),
    "compression.not-applied": (_compressed_size, True, False),
    "errors.all-unknown": (
        lambda client: _code(lambda: client.open(proto.ReadSession(table=table_name("t")))),
        "INVALID_ARGUMENT",
        "UNKNOWN",
    ),
    "split.overlapping": (_split_ids, ROWS, ROWS + 1),
}


def answer(mutant: str | None, question: Callable[[Client], Any]) -> Any:
    """The answer of a server, with a mutant or without."""
    for client in connected(mutant):
        rows = [{"id": number, "other": -number} for number in range(ROWS)]
        client.seed("t", [field("id", mode="REQUIRED"), field("other", mode="REQUIRED")], rows)
        return question(client)
    raise AssertionError("a server gives one client")


@pytest.mark.parametrize("name", FAULTS)
def test_mutant_tells_its_lie(name: str) -> None:
    """The mutant's answer differs from the reference's as its docstring says."""
    question, truth, fault = FAULTS[name]

    answers = answer(None, question), answer(name, question)

    assert answers == (truth, fault)


def test_byte_mutants_are_served() -> None:
    """A mutant of bytes is served by the service with the faulty serializer."""
    name = next(name for name, mutant in sorted(MUTANTS.items()) if mutant.serializer is not None)

    service = service_class(name)

    assert issubclass(service, ReadService)
    assert service.encode_batch is not ReadService.encode_batch


def test_unknown_mutant_is_refused() -> None:
    """A name that is no mutant is refused."""
    with pytest.raises(KeyError, match="no mutant is called 'no-such-lie'"):
        ReferenceServer(mutant="no-such-lie")
