"""Mutants of DoPut by what comes with the rows: names, metadata, dictionaries, compression, and the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from conformance.contract.flight.encoding import number, part
from conformance.reference.flight.register import mutant
from conformance.reference.flight.service import FlightService, Messages
from conformance.reference.flight.store import Batch, Flight
from conformance.wire.flightdata import read_flight
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
            place = self.decode("FlightData", request).last("flight_descriptor")
            if place is not None:
                key = self.key_of(request[place.value_start : place.end])
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


@mutant("flight-put.metadata-ends-it", kills=_LOST)
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
