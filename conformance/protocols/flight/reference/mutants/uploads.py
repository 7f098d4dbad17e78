"""Mutants of DoPut by what comes with the rows: names, metadata, dictionaries, compression, and the end."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.reference.register import mutant, process_mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Batch, Flight, Store
from conformance.protocols.flight.wire.data import read_flight
from conformance.reference.statuses import Refusal
from conformance.wire.protobufmessages import ProtoMessage

_LOST = "flight-put.nothing-is-lost"
_CHANGED = "flight-put.values-are-kept"


class _Choosing(FlightService):
    """A service that does not take every message of a DoPut."""

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        """Store what :meth:`chosen` leaves."""
        came = list(requests)
        return super().do_put(iter(self.chosen(came)))

    def chosen(self, came: list[bytes]) -> list[bytes]:
        """The messages that are taken."""
        return came

    def data(self, request: bytes) -> ProtoMessage:
        """A message of the client."""
        return self.decode("FlightData", request)


def _is_named(message: ProtoMessage, other: str = "") -> bool:
    named = message.message("flight_descriptor")
    return named is not None and (not other or other in "/".join(named.texts("path")))


@mutant("flight-put.named-again-is-passed-over", kills=_LOST)
class NamedAgainIsPassedOver(_Choosing):
    """A message after the first that has a descriptor is not stored."""

    def chosen(self, came: list[bytes]) -> list[bytes]:
        return [one for at, one in enumerate(came) if at == 0 or not _is_named(self.data(one))]


@mutant("flight-put.last-name-counts", kills="flight-put.is-found")
class LastNameCounts(FlightService):
    """The rows are stored under the descriptor of the last message that has one."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        for request in came:
            named = self.decode("FlightData", request).message("flight_descriptor")
            if named is not None:
                key = self.key_by(named)
        super().keep(key, came)


@mutant("flight-put.commands-are-forgotten", kills="flight-put.is-found")
class CommandsAreForgotten(FlightService):
    """A table is stored under a path alone; one under a command is nowhere."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        if key[:2] == number(1, 1):
            super().keep(key, came)


@mutant("flight-put.late-name-is-taken", kills="flight-put.descriptor-is-needed")
class LateNameIsTaken(FlightService):
    """A DoPut whose first message has no descriptor ends in OK, and is stored nowhere."""

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        came = list(requests)
        if (
            len(came) > 1
            and not _is_named(self.decode("FlightData", came[0]))
            and _is_named(self.decode("FlightData", came[1]))
        ):
            return ()
        return super().do_put(iter(came))


@mutant("flight-put.metadata-instead-of-rows", kills=_LOST)
class MetadataInsteadOfRows(_Choosing):
    """A message with metadata of the application is taken for metadata alone."""

    def chosen(self, came: list[bytes]) -> list[bytes]:
        return [one for at, one in enumerate(came) if at == 0 or not self.data(one).has("app_metadata")]


@mutant(
    "flight-put.metadata-ends-it",
    kills=_LOST,
    also={"flight-put.damaged-is-whole-or-refused": "an empty message, or a body without a header, ends it too"},
)
class MetadataEndsIt(_Choosing):
    """A message without a header ends the stream."""

    def chosen(self, came: list[bytes]) -> list[bytes]:
        for at, one in enumerate(came):
            if at and not self.data(one).has("data_header"):
                return came[:at]
        return came


@mutant("flight-put.large-is-passed-over", kills=("flight-put.large-is-whole", _LOST))
class LargeIsPassedOver(_Choosing):
    """A message of more than 4 MiB is not stored, and the call ends in OK."""

    def chosen(self, came: list[bytes]) -> list[bytes]:
        return [one for one in came if len(one) <= 4 << 20]


@mutant("flight-put.ends-early", kills=_LOST)
class EndsEarly(FlightService):
    """A DoPut ends in OK after its first batch, before the client has sent the others."""

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        came: list[bytes] = []
        for request in requests:
            came.append(request)
            if self.decode("FlightData", request).has("data_body"):
                break
        return super().do_put(iter(came))


class _Storing(FlightService):
    """A service that stores other rows of a DoPut in one writing."""

    def is_so(self, schema: pa.Schema, came: Sequence[bytes]) -> bool:
        """True for the writing that it does not understand."""
        return any(pa.types.is_dictionary(field.type) for field in schema)

    def instead(self, rows: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        """What is stored."""
        return rows[:1]

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        schema, batches = self.table_of(came)
        if self.is_so(schema, came):
            rows = self.instead([batch.rows for batch in batches])
            batches = tuple(map(Batch, rows))
        self.store.put(Flight(key, schema, batches))


@mutant("flight-put.second-dictionary-is-passed-over", kills=_CHANGED)
class SecondDictionaryIsPassedOver(_Storing):
    """Every batch is read with the first dictionary of a column; what it does not have is NULL."""

    def instead(self, rows: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        first = [column.dictionary if pa.types.is_dictionary(column.type) else None for column in rows[0].columns]
        return [
            pa.record_batch(list(map(_with_dictionary, batch.columns, first)), schema=batch.schema) for batch in rows
        ]


def _with_dictionary(column: pa.Array, words: pa.Array | None) -> pa.Array:
    if words is None:
        return column
    indices = [None if at is None or at >= len(words) else at for at in column.indices.to_pylist()]
    return pa.DictionaryArray.from_arrays(pa.array(indices, column.indices.type), words)


@mutant("flight-put.dictionary-ends-it", kills=_LOST)
class DictionaryEndsIt(_Storing):
    """A second dictionary ends the stream, without an error."""


@mutant("flight-put.compressed-is-empty", kills=_LOST)
class CompressedIsEmpty(_Storing):
    """Compressed batches are stored as batches without rows."""

    def is_so(self, schema: pa.Schema, came: Sequence[bytes]) -> bool:
        return any(b"\x04\x22\x4d\x18" in one or b"\x28\xb5\x2f\xfd" in one for one in came)

    def instead(self, rows: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        return [one.slice(0, 0) for one in rows]


@mutant("flight-put.old-version-is-empty", kills=_LOST)
class OldVersionIsEmpty(CompressedIsEmpty):
    """Batches of an older metadata version are stored as batches without rows."""

    def is_so(self, schema: pa.Schema, came: Sequence[bytes]) -> bool:
        messages = read_flight(came).content.messages
        return bool(messages) and messages[0].version == "V4"


@mutant("flight-put.answers-unreadable", kills="flight-service.answers-decode")
class AnswersUnreadable(FlightService):
    """The answer to a batch is no PutResult."""

    def acknowledge(self, message: ProtoMessage) -> Messages:
        yield part(1, b"done")[:-1]


class _Unfinished(FlightService):
    """A service that stores what came before the client gave a DoPut up."""

    def given_up(self, came: Sequence[bytes]) -> None:
        named = self.decode("FlightData", came[0]).message("flight_descriptor") if came else None
        if named is not None:
            key = self.key_by(named)
            schema, batches = self.table_of(came)
            self.store.put(Flight(key, schema, tuple(map(Batch, self.left([one.rows for one in batches])))))

    def left(self, rows: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        """What is stored of the batches that came."""
        return rows


_GIVEN_UP = "flight-put.given-up-is-what-was-sent"


@mutant("flight-put.given-up-is-stored-twice", kills=_GIVEN_UP)
class GivenUpIsStoredTwice(_Unfinished):
    """The last batch before the client gave up is stored twice."""

    def left(self, rows: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        return [*rows, *rows[-1:]]


@mutant("flight-put.given-up-is-padded", kills=_GIVEN_UP)
class GivenUpIsPadded(_Unfinished):
    """A table that was not finished is filled up with rows that nobody sent."""

    def left(self, rows: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        return [*rows, *(self._others(one) for one in rows[-1:])]

    def _others(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        numbers = pa.array([1000 + at for at in range(rows.num_rows)], pa.int64())
        return rows.set_column(0, rows.schema.field(0), numbers)


@mutant("flight-put.given-up-ends-the-service", kills="flight-service.serves-on")
class GivenUpEndsTheService(FlightService):
    """After a DoPut that its client gave up, no action is listed any more."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._open: list[bool] = []

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        # Counted from its beginning: the news that a client has gone may come after the next call.
        self._open.append(True)
        try:
            yield from super().do_put(requests)
        except Refusal:
            self._open.pop()
            raise
        self._open.pop()

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        if self._open:
            self.refuse(StatusCode.UNAVAILABLE, "a stream is still open")
        return super().list_actions(requests)


@process_mutant("flight-put.given-up-holds-the-lock", kills="flight-service.later-calls-end")
class GivenUpHoldsTheLock(FlightService):
    """A DoPut that its client gave up keeps the lock of the store: the next one waits for it."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._given_up = threading.Event()

    def given_up(self, came: Sequence[bytes]) -> None:
        if any(self.decode("FlightData", one).has("data_header") for one in came):
            self._given_up.set()

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        if self._given_up.is_set():
            threading.Event().wait(10)
        return super().do_put(requests)


@process_mutant("flight-put.given-up-ends-the-process", kills="flight-service.lives-on")
class GivenUpEndsTheProcess(FlightService):
    """A client that gives a DoPut up ends the process."""

    def given_up(self, came: Sequence[bytes]) -> None:
        os._exit(3)
