"""Faults in the answers of AppendRows and in their offsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pyarrow as pa

from conformance.protocols.storage_write.reference.register import mutant
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.store import Store, WrittenTable
from conformance.protocols.storage_write.reference.streams import AppendRefusedError, WriteConnection, WriteStream
from conformance.records import BqType
from conformance.reference.statuses import Refusal


@mutant("storage-write.answer-cut", kills="storage-write-answer.is-a-message")
class AnswerCut(WriteService):
    """The answer to FinalizeWriteStream ends inside of a number."""

    def finalize_write_stream(self, request: Any) -> Any:
        super().finalize_write_stream(request)
        return b"\x08\x80"


@mutant("storage-write.answer-twice", kills="storage-write-answer.one-to-each-request")
class AnswerTwice(WriteService):
    """At the end of a connection, the last answer comes again."""

    def append_rows(self, requests: Iterator[Any]) -> Iterator[Any]:
        answer = None
        for answer in super().append_rows(requests):  # the last one is needed behind the loop
            yield answer
        if answer is not None:
            yield answer


@mutant("storage-write.answer-empty", kills="storage-write-answer.has-a-result-or-an-error")
class AnswerEmpty(WriteService):
    """The answer to an append that succeeded has nothing but the name of the stream."""

    def answered(self, connection: WriteConnection, request: Any) -> Any:
        response = super().answered(connection, request)
        if response.WhichOneof("response") == "append_result":
            response.ClearField("append_result")
        return response


@mutant("storage-write.error-without-code", kills="storage-write-answer.error-has-a-code")
class ErrorWithoutCode(WriteService):
    """An error without a StorageError has the code OK."""

    def put_error(self, response: Any, error: AppendRefusedError, stream: WriteStream) -> None:
        super().put_error(response, error, stream)
        if not error.kind:
            response.error.code = 0


@mutant("storage-write.four-mebibytes", kills="storage-write-answer.large-is-acknowledged")
class FourMebibytes(WriteService):
    """A server on gRPC with its default limit: a request of more than 4 MiB ends the call."""

    def check_size(self, stream: WriteStream, size: int) -> None:
        if size > 4 << 20:
            said = f"Received message larger than max ({size} vs. 4194304)"
            raise Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, said)


@mutant("storage-write.too-large-taken", kills="storage-write-answer.too-large-is-refused")
class TooLargeTaken(WriteService):
    """Requests have no limit."""

    def check_size(self, stream: WriteStream, size: int) -> None:
        pass


@mutant("storage-write.too-large-ends-the-stream", kills="storage-write-answer.small-follows-too-large")
class TooLargeEndsTheStream(WriteService):
    """A stream takes no append after one that is too large."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.ended: set[str] = set()

    def check_size(self, stream: WriteStream, size: int) -> None:
        try:
            super().check_size(stream, size)
        except Refusal:
            self.ended.add(stream.name)
            raise

    def check_state(self, stream: WriteStream) -> None:
        super().check_state(stream)
        if stream.name in self.ended:
            raise AppendRefusedError("INTERNAL", "The connection to the stream was lost.")


@mutant("storage-write.answer-without-name", kills="storage-write-answer.names-the-stream")
class AnswerWithoutName(WriteService):
    """No answer names its stream."""

    def target_of(self, connection: WriteConnection) -> str:
        return ""


@mutant("storage-write.answer-names-table", kills="storage-write-answer.names-the-stream")
class AnswerNamesTable(WriteService):
    """An answer names the table in place of the stream."""

    def target_of(self, connection: WriteConnection) -> str:
        return super().target_of(connection).partition("/streams/")[0]


class _Refusing(WriteService):
    """A server that refuses the appends to some streams."""

    def check_state(self, stream: WriteStream) -> None:
        super().check_state(stream)
        if self.refuses(stream):
            raise AppendRefusedError("INTERNAL", "Not now.")

    def refuses(self, stream: WriteStream) -> bool:
        """True for these streams."""
        raise NotImplementedError


@mutant(
    "storage-write.pending-refused",
    kills="storage-write-answer.lawful-is-acknowledged",
    also={"storage-write-offset.retry-is-taken-or-known": "rows that are sent again are refused as well"},
)
class PendingRefused(_Refusing):
    """Appends to PENDING streams are refused."""

    def refuses(self, stream: WriteStream) -> bool:
        return stream.kind == "PENDING"


@mutant(
    "storage-write.default-refused",
    kills=("storage-write-answer.default-is-acknowledged", "storage-write-answer.short-default-is-acknowledged"),
    also={
        "storage-write-answer.documented-type-is-acknowledged": "the cases of these types write to it",
        "storage-write-answer.columns-by-name-are-acknowledged": "so do those of columns",
        "storage-write-answer.second-writer-is-acknowledged": "so does the second of two connections",
    },
)
class DefaultRefused(_Refusing):
    """Appends to default streams are refused."""

    def refuses(self, stream: WriteStream) -> bool:
        return stream.is_default


@mutant(
    "storage-write.short-default-unknown",
    kills="storage-write-answer.short-default-is-acknowledged",
    source="https://github.com/goccy/bigquery-emulator/issues/246",
)
class ShortDefaultUnknown(WriteService):
    """The default stream is known under its full name alone."""

    def stream(self, name: str) -> WriteStream:
        if name.endswith("/_default") and not name.endswith("/streams/_default"):
            raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, f"Invalid stream name. Entity: {name}")
        return super().stream(name)


@mutant("storage-write.records-refused", kills="storage-write-answer.documented-type-is-acknowledged")
class RecordsRefused(WriteService):
    """Rows with a column of type RECORD are refused."""

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        if any(column.type is BqType.RECORD for column in table.columns):
            raise AppendRefusedError("INTERNAL", "A column has fields.")
        return super().stored(table, batch)


@mutant("storage-write.columns-counted", kills="storage-write-answer.columns-by-name-are-acknowledged")
class ColumnsCounted(WriteService):
    """Rows with other columns than the table, or in another order, are refused."""

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        if batch.schema.names != [column.name for column in table.columns]:
            raise AppendRefusedError("INVALID_ARGUMENT", "The columns are not those of the table.")
        return super().stored(table, batch)


# --- offsets --------------------------------------------------------------------------------------


@mutant(
    "storage-write.offset-behind-the-rows",
    kills="storage-write-offset.is-that-of-the-first-row",
    source="https://github.com/goccy/bigquery-emulator/issues/505",
)
class OffsetBehindTheRows(WriteService):
    """The offset in an answer is that behind the last row."""

    def offset_of(self, stream: WriteStream, first: int, count: int) -> int | None:
        return None if stream.is_default else first + count


@mutant("storage-write.offset-of-the-last", kills="storage-write-offset.is-that-of-the-first-row")
class OffsetOfTheLast(WriteService):
    """The offset in an answer is that of the last row."""

    def offset_of(self, stream: WriteStream, first: int, count: int) -> int | None:
        return None if stream.is_default else first + count - 1


@mutant("storage-write.offset-missing", kills="storage-write-offset.is-that-of-the-first-row")
class OffsetMissing(WriteService):
    """No answer has an offset."""

    def offset_of(self, stream: WriteStream, first: int, count: int) -> int | None:
        return None


@mutant("storage-write.offset-on-default", kills="storage-write-offset.none-on-default")
class OffsetOnDefault(WriteService):
    """The answers of default streams have offsets, too."""

    def offset_of(self, stream: WriteStream, first: int, count: int) -> int | None:
        return first


class _Unchecked(WriteService):
    """A server that does not check some offsets."""

    def check_offset(self, stream: WriteStream, asked: int | None) -> None:
        try:
            super().check_offset(stream, asked)
        except AppendRefusedError as error:
            self.found(error)

    def found(self, error: AppendRefusedError) -> None:
        """Refuse the append, or not."""
        raise NotImplementedError


@mutant(
    "storage-write.offset-behind-taken",
    kills="storage-write-offset.behind-the-end-is-refused",
    also={
        "storage-write-visible.retried-rows-are-there-once": "rows that are sent again are written again",
        "storage-write-visible.each-row-once": "as above, and they are in the table twice",
        "storage-write-offset.is-that-of-the-first-row": "rows that are sent again move the end of the stream",
        "storage-write-finish.finalize-counts-the-rows": "rows that are sent again are counted twice",
    },
    source="https://github.com/goccy/bigquery-emulator/issues/505",
)
class OffsetBehindTaken(_Unchecked):
    """An append at an offset that the stream has already is written at the end."""

    def found(self, error: AppendRefusedError) -> None:
        if error.kind != "OFFSET_ALREADY_EXISTS":
            raise error


@mutant("storage-write.offset-past-taken", kills="storage-write-offset.past-the-end-is-refused")
class OffsetPastTaken(_Unchecked):
    """An append at an offset beyond the end of the stream is written at the end."""

    def found(self, error: AppendRefusedError) -> None:
        if error.kind != "OFFSET_OUT_OF_RANGE":
            raise error


@mutant(
    "storage-write.offset-code-internal",
    kills=("storage-write-offset.behind-the-end-is-refused", "storage-write-offset.past-the-end-is-refused"),
    also={"storage-write-offset.retry-is-taken-or-known": "the stream has the rows, and does not say so by the code"},
    source="https://github.com/goccy/bigquery-emulator/issues/505",
)
class OffsetCodeInternal(_Unchecked):
    """A wrong offset is refused with INTERNAL."""

    def found(self, error: AppendRefusedError) -> None:
        raise AppendRefusedError("INTERNAL" if error.kind else "INVALID_ARGUMENT", str(error), kind=error.kind)


@mutant("storage-write.offset-error-as-status", kills="storage-write-offset.error-is-in-an-answer")
class OffsetErrorAsStatus(_Unchecked):
    """A wrong offset ends the connection."""

    def found(self, error: AppendRefusedError) -> None:
        codes = {"OFFSET_ALREADY_EXISTS": "ALREADY_EXISTS", "OFFSET_OUT_OF_RANGE": "OUT_OF_RANGE"}
        if error.kind not in codes:
            raise error
        raise Refusal(grpc.StatusCode[codes[error.kind]], str(error))


@mutant("storage-write.offset-error-without-detail", kills="storage-write-offset.error-has-its-detail")
class OffsetErrorWithoutDetail(_Unchecked):
    """The error of a wrong offset has no details."""

    def found(self, error: AppendRefusedError) -> None:
        error.kind = ""
        raise error


@mutant("storage-write.offset-error-of-the-other", kills="storage-write-offset.error-has-its-detail")
class OffsetErrorOfTheOther(_Unchecked):
    """The StorageError of each wrong offset is OFFSET_OUT_OF_RANGE."""

    def found(self, error: AppendRefusedError) -> None:
        error.kind = "OFFSET_OUT_OF_RANGE" if error.kind else ""
        raise error


@mutant("storage-write.offset-error-without-numbers", kills="storage-write-offset.error-says-both-offsets")
class OffsetErrorWithoutNumbers(WriteService):
    """The text of the error of a wrong offset has no offsets."""

    def put_error(self, response: Any, error: AppendRefusedError, stream: WriteStream) -> None:
        super().put_error(response, error, stream)
        if error.kind.startswith("OFFSET"):
            response.error.message = "The offset is wrong."


@mutant("storage-write.offset-error-exchanged", kills="storage-write-offset.error-says-both-offsets")
class OffsetErrorExchanged(WriteService):
    """The text of the error of a wrong offset has the two offsets in each other's place."""

    def check_offset(self, stream: WriteStream, asked: int | None) -> None:
        try:
            super().check_offset(stream, asked)
        except AppendRefusedError as error:
            code = {"OFFSET_ALREADY_EXISTS": "ALREADY_EXISTS", "OFFSET_OUT_OF_RANGE": "OUT_OF_RANGE"}
            if error.kind not in code:
                raise
            text = f"The offset is wrong, expected offset {asked}, received {stream.end}"
            raise AppendRefusedError(code[error.kind], text, kind=error.kind) from None


@mutant("storage-write.dead-after-error", kills="storage-write-offset.connection-goes-on")
class DeadAfterError(WriteService):
    """After an error, nothing more is written to the stream."""

    def put_error(self, response: Any, error: AppendRefusedError, stream: WriteStream) -> None:
        super().put_error(response, error, stream)
        self.dead = stream.name

    def write(self, stream: WriteStream, rows: pa.Table) -> int:
        if stream.name == getattr(self, "dead", ""):
            raise AppendRefusedError("INTERNAL", "An append before has failed.")
        return super().write(stream, rows)


@mutant(
    "storage-write.offset-on-default-taken",
    kills="storage-write-offset.on-default-is-refused",
)
class OffsetOnDefaultTaken(_Unchecked):
    """An offset on the default stream is not looked at."""

    def found(self, error: AppendRefusedError) -> None:
        if error.kind:
            raise error
