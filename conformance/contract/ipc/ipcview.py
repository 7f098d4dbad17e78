"""One stream, file or tensor as the clauses see it.

The messages are subjects of the clauses on messages, and the whole is the subject of the clauses on wholes. In every
finding the call is 0, and bytes count from the first byte of the stream or file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance import wire
from conformance.contain.text import many
from conformance.contract.budget import Excess
from conformance.contract.ipc.messages import (
    OF_A_TENSOR,
    SOMETIMES_OF_THE_WHOLE,
    Container,
    MessageInBatches,
    MessageOfSchema,
    divide,
    is_of_the_whole,
)
from conformance.contract.raised import remembered_property
from conformance.contract.view import BatchBytes, SchemaBytes, View
from conformance.records import Call, Case, Exchange, Table
from conformance.wire import Fault, Header, Kind, Message

__all__ = ["IPC_CASE", "Attached", "IpcView"]

IPC_CASE: Final = Case(id="ipc", title="A stream, file or tensor", table=Table(columns=(), rows=()))
"""The case in the verdicts on a stream, file or tensor: it has no table."""

_NO_MESSAGE: Final = frozenset({Header.UNKNOWN, Header.STRAY})


@dataclasses.dataclass(frozen=True, slots=True)
class Attached:
    """Key-value metadata that a writer was asked to put on each of the ``batches``, or on the ``file``."""

    place: str
    pairs: Mapping[str, str]


class IpcView(View):
    """A stream, file or tensor; ``expected`` are the batches that it has to contain, if they are known, and
    ``attached`` is the metadata that it has to contain beside them. ``given`` is the tensor that it has to contain.
    ``read_back`` is the error of the library that wrote it, where that library reads it: empty if there was none, None
    if it was not asked.
    """

    def __init__(
        self,
        data: bytes,
        kind: Kind,
        expected: Sequence[pa.RecordBatch] | None = None,
        attached: Attached | None = None,
        given: wire.TensorReading | None = None,
        *,
        read_back: str | None = None,
    ) -> None:
        exchange = Exchange(IPC_CASE.id, str(kind), (Call(0, "", "Bytes", b"", (data,)),))
        super().__init__(IPC_CASE, exchange, pa.table({}))
        self.data = data
        self.kind = kind
        self.expected = expected
        self.attached = attached
        self.given = given
        self.read_back = read_back

    @remembered_property
    def file(self) -> wire.FileReading | None:
        """The file, None for another kind."""
        return wire.read_file(self.data, self.budget.of_messages(self.data)) if self.kind is Kind.FILE else None

    @remembered_property
    def tensor(self) -> wire.TensorReading | None:
        """The tensor, None for another kind."""
        return wire.read_tensor(self.data) if self.kind is Kind.TENSOR else None

    @remembered_property
    def _alone(self) -> wire.StreamReading | None:
        if self.kind in (Kind.FILE, Kind.TENSOR):
            return None
        return wire.read_stream(self.data, self.budget.of_messages(self.data))

    @remembered_property
    def excess(self) -> Excess | None:
        """An excess if the stream has more messages than are read, else None."""
        if self.stream is None or not self.stream.cut:
            return None
        read = len(self.stream.messages)
        return Excess(
            0,
            f"more than {many(read, 'message')} in {many(len(self.data), 'byte')}, where the suite stops reading",
        )

    @property
    def stream(self) -> wire.StreamReading | None:
        """The stream, or the stream in the file; None for a tensor, or if the beginning is unknown."""
        return self._alone if self.file is None else self.file.stream

    @property
    def found(self) -> Sequence[Fault]:
        """All faults that the wire found."""
        reading = self.file or self.tensor or self._alone
        assert reading is not None, "every kind has its reading"
        return reading.faults

    @property
    def read(self) -> tuple[list[wire.DictionaryMessage], list[wire.BatchMessage]]:
        """The dictionary batches and record batches of the stream, and for a file also those of its footer."""
        readings = [reading for reading in (self.stream, self.file) if reading is not None]
        return [one for each in readings for one in each.dictionaries], [
            one for each in readings for one in each.batches
        ]

    @remembered_property
    def messages(self) -> tuple[Message, ...]:
        """The messages in order, without end-of-stream markers; the last may be bytes that are no message."""
        if self.tensor is not None:
            return () if self.tensor.message is None else (self.tensor.message,)
        dictionaries, batches = self.read
        there = [] if self.stream is None else list(self.stream.messages)
        there += [one.message for one in (*(made.batch for made in dictionaries), *batches) if one.message is not None]
        found = [one for one in dict.fromkeys(there) if one.header is not Header.END_OF_STREAM]
        return tuple(sorted(found, key=lambda message: message.start))

    @remembered_property
    def _divided(self) -> tuple[list[Fault], dict[Message, list[Fault]]]:
        owners: dict[int, Message] = {}
        dictionaries, batches = self.read
        for batch in (*(made.batch for made in dictionaries), *batches):
            if batch.message is not None:
                owners.update((id(fault), batch.message) for fault in batch.faults)
        return divide(self.found, self.messages, owners)

    @remembered_property
    def whole(self) -> Container:
        """The container with the faults of the sequence and of the bytes around it."""
        gaps = [] if self.tensor is None else [fault for fault in self.found if fault.rule in OF_A_TENSOR]
        return Container([*self._divided[0], *gaps])

    @remembered_property
    def _of_the_footer(self) -> list[Fault]:
        """The faults of the metadata after the stream of a file: they belong to the footer."""
        loose = (fault for fault in self._divided[0] if not is_of_the_whole(fault.rule))
        return [] if self.file is None else [fault for fault in loose if fault.rule not in SOMETIMES_OF_THE_WHOLE]

    @property
    def legible(self) -> bool:
        """True if any message or end-of-stream marker can be followed: noise is no evidence about a stream."""
        messages = self.messages if self.stream is None else self.stream.messages
        return any(message.header not in _NO_MESSAGE for message in messages)

    @remembered_property
    def schemas(self) -> list[SchemaBytes]:
        """The first message of a stream or the message of a tensor; for a file also its footer, which repeats the
        schema.
        """
        found: list[SchemaBytes] = []
        stream = self.stream
        if self.messages and (stream is None or self.messages[0] is stream.messages[0]):
            first = self.messages[0]
            schema = None if stream is None else stream.schema
            found.append(MessageOfSchema(self.data, first, schema, self._divided[1][first]))
        if self.file is not None and (self.file.footer is not None or self._of_the_footer):
            footer, faults = self.file.footer, self._of_the_footer
            start, end = (faults[0].start, len(self.data)) if footer is None else (footer.start, footer.end)
            place = Message(start, end, Header.SCHEMA)
            found.append(MessageOfSchema(self.data, place, None if footer is None else footer.schema, faults))
        return found

    @remembered_property
    def batches(self) -> list[BatchBytes]:
        """All messages of a stream or file after its schema: batches and dictionary batches, broken ones included."""
        if self.tensor is not None:
            return []
        dictionaries, batches = self.read
        judged = {batch.message: batch for batch in (*(made.batch for made in dictionaries), *batches)}
        divided = self._divided[1]
        stream = self.stream
        first = stream.messages[0] if stream is not None and stream.messages else None
        later = [one for one in self.messages if one is not first]
        legacy = first is not None and first.legacy and first.header not in _NO_MESSAGE
        return [MessageInBatches(self.data, one, judged.get(one), divided[one], in_legacy=legacy) for one in later]
