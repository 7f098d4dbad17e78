"""Faults in what is said of write streams."""

from __future__ import annotations

from typing import Any

import grpc

from conformance.protocols.storage_write.contract.classes import CLASSES
from conformance.protocols.storage_write.reference.register import mutant
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.store import WrittenTable
from conformance.protocols.storage_write.reference.streams import WriteStream
from conformance.protocols.storage_write.wire.messages import FIELD_TYPES, MODES
from conformance.reference.statuses import Refusal


class _Created(WriteService):
    """A server that says something else of a stream when it is created."""

    def create_write_stream(self, request: Any) -> Any:
        answer = super().create_write_stream(request)
        self.spoil(answer)
        return answer

    def spoil(self, answer: Any) -> None:
        """Change the answer."""


@mutant("storage-write.name-with-slash", kills="storage-write-stream.name-is-of-the-table")
class NameWithSlash(WriteService):
    """The id of a stream has a slash."""

    def new_id(self) -> str:
        return f"writes/{super().new_id()}"

    def stream(self, name: str) -> WriteStream:
        return self.streams.get(name) or super().stream(name)


@mutant(
    "storage-write.one-name",
    kills="storage-write-stream.names-differ",
    also={
        "storage-write-offset.is-that-of-the-first-row": "the second stream has the rows of the first",
        "storage-write-finish.*": "what happens to one stream happens to both",
        "storage-write-visible.*": "as above",
        "storage-write-answer.lawful-is-acknowledged": "as above",
        "storage-write-rows.refused-are-not-written": "as above",
    },
    source="https://github.com/goccy/bigquery-emulator/issues/352",
)
class OneName(WriteService):
    """All streams of a table have one name."""

    def new_id(self) -> str:
        return "stream"


@mutant("storage-write.created-committed", kills="storage-write-stream.type-is-the-one-asked-for")
class CreatedCommitted(_Created):
    """A new stream is said to be of the type COMMITTED, whatever it is."""

    def spoil(self, answer: Any) -> None:
        answer.type = 1


@mutant("storage-write.created-without-time", kills="storage-write-stream.has-its-time")
class CreatedWithoutTime(_Created):
    """A new stream has no time of its creation."""

    def spoil(self, answer: Any) -> None:
        answer.ClearField("create_time")


@mutant("storage-write.created-with-commit", kills="storage-write-stream.uncommitted-has-no-commit-time")
class CreatedWithCommit(_Created):
    """Each new stream has the time of its creation as its commit time."""

    def spoil(self, answer: Any) -> None:
        answer.commit_time.CopyFrom(answer.create_time)


@mutant("storage-write.created-without-commit", kills="storage-write-stream.committed-has-its-commit-time")
class CreatedWithoutCommit(_Created):
    """No new stream has a commit time."""

    def spoil(self, answer: Any) -> None:
        answer.ClearField("commit_time")


@mutant("storage-write.created-without-schema", kills="storage-write-stream.new-has-the-schema")
class CreatedWithoutSchema(_Created):
    """A new stream has no schema."""

    def spoil(self, answer: Any) -> None:
        answer.ClearField("table_schema")


@mutant("storage-write.schema-of-strings", kills="storage-write-stream.schema-is-that-of-the-table")
class SchemaOfStrings(WriteService):
    """Every column is said to be a STRING."""

    def schema_of(self, table: WrittenTable) -> Any:
        made = super().schema_of(table)
        for field in made.fields:
            field.type = FIELD_TYPES["STRING"]
        return made


@mutant("storage-write.schema-nullable", kills="storage-write-stream.schema-is-that-of-the-table")
class SchemaNullable(WriteService):
    """A REQUIRED column is said to be NULLABLE."""

    def schema_of(self, table: WrittenTable) -> Any:
        made = super().schema_of(table)
        for field in made.fields:
            field.mode = MODES["NULLABLE"] if field.mode == MODES["REQUIRED"] else field.mode
        return made


@mutant("storage-write.schema-sorted", kills="storage-write-stream.schema-is-that-of-the-table")
class SchemaSorted(WriteService):
    """The columns of the schema are sorted by their names."""

    def schema_of(self, table: WrittenTable) -> Any:
        made = super().schema_of(table)
        fields = sorted(made.fields, key=lambda field: str(field.name))
        return CLASSES["TableSchema"](fields=fields)


class _Got(WriteService):
    """A server that says something else of a stream when it is asked for."""

    def get_write_stream(self, request: Any) -> Any:
        stream = self.stream(request.name)
        answer = super().get_write_stream(request)
        self.spoil(stream, answer)
        return answer

    def spoil(self, stream: WriteStream, answer: Any) -> None:
        """Change the answer."""


@mutant("storage-write.got-short-name", kills="storage-write-stream.found-again")
class GotShortName(_Got):
    """GetWriteStream answers with the id of the stream alone."""

    def spoil(self, stream: WriteStream, answer: Any) -> None:
        answer.name = stream.name.rpartition("/")[2]


@mutant("storage-write.got-committed", kills="storage-write-stream.found-again")
class GotCommitted(_Got):
    """GetWriteStream says of each stream that it is COMMITTED."""

    def spoil(self, stream: WriteStream, answer: Any) -> None:
        answer.type = 1


@mutant("storage-write.got-never", kills="storage-write-stream.created-is-found")
class GotNever(WriteService):
    """GetWriteStream knows the default stream alone."""

    def get_write_stream(self, request: Any) -> Any:
        if not request.name.endswith("_default"):
            raise Refusal(grpc.StatusCode.NOT_FOUND, f"Requested entity was not found. Entity: {request.name}")
        return super().get_write_stream(request)


@mutant("storage-write.schema-in-each-view", kills="storage-write-stream.basic-view-has-no-schema")
class SchemaInEachView(WriteService):
    """GetWriteStream gives the schema whatever the view is."""

    def shows_schema(self, view: int) -> bool:
        return True


@mutant("storage-write.schema-in-no-view", kills="storage-write-stream.full-view-has-the-schema")
class SchemaInNoView(WriteService):
    """GetWriteStream never gives the schema."""

    def shows_schema(self, view: int) -> bool:
        return False


@mutant("storage-write.commit-not-shown", kills="storage-write-stream.commit-is-shown")
class CommitNotShown(_Got):
    """GetWriteStream gives no commit time of a PENDING stream, also after its commit."""

    def spoil(self, stream: WriteStream, answer: Any) -> None:
        if stream.kind == "PENDING":
            answer.ClearField("commit_time")


@mutant("storage-write.commit-shown-early", kills="storage-write-stream.commit-is-shown")
class CommitShownEarly(_Got):
    """GetWriteStream gives the time of the creation as the commit time of each stream."""

    def spoil(self, stream: WriteStream, answer: Any) -> None:
        answer.commit_time.CopyFrom(answer.create_time)


@mutant("storage-write.default-without-type", kills="storage-write-stream.default-is-committed")
class DefaultWithoutType(_Got):
    """The default stream has no type."""

    def spoil(self, stream: WriteStream, answer: Any) -> None:
        if stream.is_default:
            answer.ClearField("type")


@mutant("storage-write.default-not-found", kills="storage-write-stream.default-is-found")
class DefaultNotFound(WriteService):
    """GetWriteStream does not know the default stream."""

    def get_write_stream(self, request: Any) -> Any:
        if request.name.endswith("_default"):
            raise Refusal(grpc.StatusCode.NOT_FOUND, f"Requested entity was not found. Entity: {request.name}")
        return super().get_write_stream(request)


@mutant("storage-write.unknown-made-up", kills="storage-write-stream.unknown-is-refused")
class UnknownMadeUp(WriteService):
    """GetWriteStream of a stream that does not exist answers with one."""

    def get_write_stream(self, request: Any) -> Any:
        if not request.name.endswith("_default") and request.name not in self.streams:
            return CLASSES["WriteStream"](name=request.name, type=1)
        return super().get_write_stream(request)


@mutant("storage-write.table-made-up", kills="storage-write-stream.missing-table-is-refused")
class TableMadeUp(WriteService):
    """CreateWriteStream for a table that does not exist makes a stream."""

    def table(self, name: str) -> WrittenTable:
        return self.store.tables.get(name) or WrittenTable(())
