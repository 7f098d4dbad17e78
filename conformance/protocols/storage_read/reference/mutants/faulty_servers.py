"""Faulty servers: complete implementations that always do one thing, whatever the request.

A suite that looks only at shapes passes some of them. A test asserts which MUST clauses each server passes, and the
server's docstring explains them; any other MUST clause that it passes checks nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeVar

import numpy as np
import pyarrow as pa

from conformance.contract import proto
from conformance.protocols.storage_read.reference.queries import QueryRefusedError
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.reference.reshaping import change_fields
from conformance.reference.serializer import REFERENCE, Serializer
from conformance.reference.statuses import Reason, Refusal

__all__ = ["FAULTY_SERVERS"]

_REGISTER: dict[str, type[ReadService]] = {}

FAULTY_SERVERS: Final[Mapping[str, type[ReadService]]] = MappingProxyType(_REGISTER)
"""Every faulty server by name; its docstring says what it does and which clauses it may pass."""

S = TypeVar("S", bound=type[ReadService])


def _faulty(name: str) -> Callable[[S], S]:
    def register(service: S) -> S:
        _REGISTER[name] = service
        return service

    return register


@_faulty("liar.null")
class Null(ReadService):
    """Every call is OK and answers nothing: an empty session, no rows, an empty split.

    It may pass clauses that ask only that a valid call ends in OK.
    """

    def create_read_session(self, request: Any) -> Any:  # noqa: ARG002  # whatever is asked: that is the fault
        return proto.ReadSession()

    def read_rows(self, request: Any) -> Iterator[Any]:  # noqa: ARG002  # as above
        return iter(())

    def split_read_stream(self, request: Any) -> Any:  # noqa: ARG002  # as above
        return proto.SplitReadStreamResponse()

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # as above
        return {}


@_faulty("liar.always-accept")
class AlwaysAccept(ReadService):
    """No request is refused: a wrong request is served as if it were a valid one.

    It serves valid requests correctly, so it may pass everything but the clauses on refusals.
    """

    def create_read_session(self, request: Any) -> Any:
        try:
            return super().create_read_session(request)
        except Refusal:
            plain = type(request)(parent="projects/accepted", read_session=self._plain(request.read_session))
            try:
                return super().create_read_session(plain)
            except Refusal:
                return proto.ReadSession(name="projects/accepted/locations/us/sessions/none")

    def _plain(self, asked: Any) -> Any:
        return proto.ReadSession(table=asked.table, data_format=proto.DATA_FORMAT["ARROW"])

    def read_rows(self, request: Any) -> Iterator[Any]:
        try:
            yield from super().read_rows(request)
        except Refusal:
            if request.offset > 0:
                return
            try:
                yield from super().read_rows(proto.ReadRowsRequest(read_stream=request.read_stream))
            except Refusal:
                return

    def split_read_stream(self, request: Any) -> Any:
        try:
            return super().split_read_stream(request)
        except Refusal:
            return proto.SplitReadStreamResponse()


@_faulty("liar.always-refuse")
class AlwaysRefuse(ReadService):
    """Every call is refused with INVALID_ARGUMENT.

    It may pass clauses that ask only that a wrong request is refused, with that status.
    """

    def create_read_session(self, request: Any) -> NoReturn:  # noqa: ARG002  # whatever is asked: that is the fault
        self.refuse(Reason.BAD_RESOURCE)

    def read_rows(self, request: Any) -> Iterator[Any]:  # noqa: ARG002  # as above
        self.refuse(Reason.BAD_RESOURCE)

    def split_read_stream(self, request: Any) -> NoReturn:  # noqa: ARG002  # as above
        self.refuse(Reason.BAD_RESOURCE)

    def run_query(self, project: str, body: dict[str, Any]) -> NoReturn:  # noqa: ARG002  # as above
        raise QueryRefusedError("Invalid value")


@_faulty("liar.echo")
class Echo(ReadService):
    """A session is the request's own template with one stream; a read answers its request's bytes as a batch.

    It may pass clauses on echoed values, on stream names that it made up, and on the status OK.
    """

    def create_read_session(self, request: Any) -> Any:
        answer = proto.ReadSession()
        answer.CopyFrom(request.read_session)
        answer.name = f"{request.parent}/locations/us/sessions/echo"
        answer.streams.add(name=f"{answer.name}/streams/echo")
        answer.arrow_schema.serialized_schema = request.SerializeToString()
        return answer

    def read_rows(self, request: Any) -> Iterator[Any]:
        answer = proto.ReadRowsResponse(row_count=1)
        answer.arrow_record_batch.serialized_record_batch = request.SerializeToString()
        answer.arrow_schema.serialized_schema = request.SerializeToString()
        yield answer

    def split_read_stream(self, request: Any) -> Any:
        child = proto.ReadStream(name=request.name)
        return proto.SplitReadStreamResponse(primary_stream=child, remainder_stream=child)

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # whatever is asked
        return body


def _noise(data: bytes, salt: bytes) -> bytes:
    """Meaningless bytes of the same length, the same every time."""
    return hashlib.shake_128(salt + data).digest(len(data))


def _wrong_values(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """Other values of the same type and nulls, where a type has them as fixed-width words."""
    buffers = array.buffers()
    if array.type.num_fields or len(buffers) != 2 or buffers[1] is None or not len(array):
        return field, array
    words = np.frombuffer(buffers[1], np.uint8).copy()
    words ^= 1
    return field, pa.Array.from_buffers(
        array.type, len(array), [buffers[0], pa.py_buffer(words)], offset=array.offset, null_count=array.null_count
    )


def _as_text(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """The values as text, whatever their type was; nested types keep their shape."""
    if array.type.num_fields:
        return field, array
    text = [None if value is None else str(value) for value in array.to_pylist()]
    return field.with_type(pa.utf8()), pa.array(text, pa.utf8())


class _Written(ReadService):
    serializer = REFERENCE

    def encode_schema(self, schema: pa.Schema) -> bytes:
        return self.serializer.serialize_schema(schema)

    def encode_batch(self, part: pa.RecordBatch, codec: str) -> bytes:
        return self.serializer.serialize_batch(part, codec)


@_faulty("liar.wrong-values")
class WrongValues(_Written):
    """Right schema, right counts, wrong values: the lowest bit of every byte of every fixed-width value is inverted.

    It may pass everything but the clauses on values and on which rows arrive.
    """

    serializer = Serializer(reshape=lambda batch: change_fields(batch, _wrong_values))


@_faulty("liar.wrong-types")
class WrongTypes(_Written):
    """Right values as text: every column that is not nested arrives as utf8.

    It may pass everything but the clauses on types and field metadata. Clauses on values have nothing to compare if
    the types differ.
    """

    serializer = Serializer(reshape=lambda batch: change_fields(batch, _as_text))


@_faulty("liar.noise")
class Noise(ReadService):
    """The bytes of schemas and rows are noise of the right length; everything around them is right.

    It may pass clauses that do not look at Arrow bytes: names, echoes, refusals. Clauses on messages have no subject,
    since noise is not a message, so none of them passes.
    """

    def encode_schema(self, schema: pa.Schema) -> bytes:
        return _noise(super().encode_schema(schema), b"schema")

    def encode_batch(self, part: pa.RecordBatch, codec: str) -> bytes:
        return _noise(super().encode_batch(part, codec), b"batch")

    def put_schema(self, answer: Any, session: OpenedSession) -> None:
        super().put_schema(answer, session)
        if answer.HasField("avro_schema"):  # a text, so that the message around it is one
            text = answer.avro_schema.schema
            answer.avro_schema.schema = _noise(text.encode(), b"avro").hex()[: len(text)]

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        if answer.HasField("avro_rows"):
            answer.avro_rows.serialized_binary_rows = _noise(answer.avro_rows.serialized_binary_rows, b"rows")
        return answer


@_faulty("liar.previous-answer")
class PreviousAnswer(ReadService):
    """Each call gets the answer of the previous call of its kind; the first one gets the right answer.

    It may pass clauses on what two cases have in common: patterns of names, framing, the shape of a session.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._last: dict[str, Any] = {}

    def create_read_session(self, request: Any) -> Any:
        return self._swap("session", super().create_read_session(request))

    def read_rows(self, request: Any) -> Iterator[Any]:
        return iter(self._swap("rows", list(super().read_rows(request))))

    def split_read_stream(self, request: Any) -> Any:
        return self._swap("split", super().split_read_stream(request))

    def run_query(self, project: str, body: dict[str, Any]) -> Any:
        return self._swap("query", super().run_query(project, body))

    def _swap(self, kind: str, answer: Any) -> Any:
        previous = self._last.get(kind, answer)
        self._last[kind] = answer
        return previous
