"""Mutants of refusals: bad requests that are served, wrong codes, texts that do not say what is wrong."""

from __future__ import annotations

import abc
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import grpc

from conformance.contract import proto
from conformance.protocols.storage_read.reference.catalogue import MissingError, Snapshot, TableId, stored_schema
from conformance.protocols.storage_read.reference.mutants.changed import Accepted, Lenient, coded
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.records import Column
from conformance.reference.mutants.reasons import IN_RESULTS
from conformance.reference.statuses import REFUSALS, Reason, Refusal

_Code: TypeAlias = grpc.StatusCode
_UNSPECIFIED: Final = "https://github.com/googleapis/python-bigquery-storage/issues/264"
_STREAM: Final = re.compile(r"projects/[^/]+/locations/[^/]+/(?:sessions|jobs)/[^/]+/streams/[^/]+")
_DOTTED: Final = re.compile(r"([^/.]+)\.([^/.]+)\.([^/.]+)")

# --- bad requests that are served --------------------------------------------------------------------


@behaviour_mutant("errors.format-defaults", kills="errors.unspecified-format-is-refused", source=_UNSPECIFIED)
class FormatDefaults(ReadService):
    """A request without a data format gets ARROW."""

    def check_format(self, data_format: int) -> None:
        if data_format:
            super().check_format(data_format)


class _Reading(ReadService, abc.ABC):
    """A service that changes a request before it checks it."""

    @abc.abstractmethod
    def understand(self, request: Any) -> None:
        """Change the request in place."""

    def check_request(self, request: Any) -> None:
        self.understand(request)
        super().check_request(request)


@behaviour_mutant("errors.any-parent", kills="errors.bad-parent-is-refused")
class AnyParent(_Reading):
    """Any parent is accepted: its project is the first part of its name, or that of the table."""

    def understand(self, request: Any) -> None:
        parts = request.parent.split("/")
        named = len(parts) > 1 and parts[0] == "projects" and parts[1]
        request.parent = f"projects/{parts[1] if named else 'unnamed'}"


@behaviour_mutant("errors.dotted-table", kills="errors.malformed-table-is-refused")
class DottedTable(_Reading):
    """A table may be written as project.dataset.table."""

    def understand(self, request: Any) -> None:
        match = _DOTTED.fullmatch(request.read_session.table)
        if match:
            request.read_session.table = "projects/{}/datasets/{}/tables/{}".format(*match.groups())


@behaviour_mutant("errors.missing-table-is-empty", kills="errors.missing-table-is-refused")
class MissingTableIsEmpty(ReadService):
    """A table that does not exist is an empty one without columns."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        parts = asked.table.split("/")
        table = TableId(parts[1], parts[3], parts[5])
        try:
            self.catalogue.snapshot(table)
        except MissingError:
            return Snapshot(table, (), 0, stored_schema(()).empty_table())
        return super().take_snapshot(asked)


@behaviour_mutant("errors.preferred-cut", kills="errors.preferred-above-maximum-is-refused")
class PreferredCut(ReadService):
    """A preferred_min_stream_count above the maximum is cut down to it."""

    def check_stream_counts(self, maximum: int, preferred: int) -> None:
        super().check_stream_counts(maximum, min(preferred, maximum) if maximum > 0 else preferred)


@behaviour_mutant("errors.negative-is-unset", kills="errors.negative-stream-count-is-refused")
class NegativeIsUnset(_Reading):
    """A negative max_stream_count is ignored."""

    def understand(self, request: Any) -> None:
        request.max_stream_count = max(request.max_stream_count, 0)


@behaviour_mutant("errors.any-trace-id", kills="errors.long-trace-id-is-refused")
class AnyTraceId(Lenient):
    """A trace id of any length is accepted."""

    accepted = Reason.LONG_TRACE_ID

    def check_request(self, request: Any) -> None:
        with contextlib.suppress(Accepted):
            super().check_request(request)


@behaviour_mutant("errors.malformed-stream-is-empty", kills="errors.malformed-stream-is-refused")
class MalformedStreamIsEmpty(ReadService):
    """A malformed stream name reads like a stream without rows."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        return super().read_rows(request) if _STREAM.fullmatch(request.read_stream) else iter(())


@behaviour_mutant("errors.unknown-split-is-empty", kills="errors.split-of-unknown-stream-is-refused")
class UnknownSplitIsEmpty(ReadService):
    """A split of a stream that does not exist is answered like one that cannot be split."""

    def split_read_stream(self, request: Any) -> Any:
        if self.sessions.find(request.name) is None:
            return proto.SplitReadStreamResponse()
        return super().split_read_stream(request)


# --- codes -----------------------------------------------------------------------------------------


def _refused(
    name: str,
    kills: str,
    fault: str,
    wrong: Reason,
    *,
    code: grpc.StatusCode | None = None,
    words: str | None = None,
    source: str = "",
    also: Mapping[str, str] | None = None,
) -> None:
    """Register a service that refuses for one reason with a wrong code, or with another text."""

    class Refused(ReadService):
        def refuse(self, reason: Reason, **facts: object) -> NoReturn:
            if reason is not wrong:
                super().refuse(reason, **facts)
            right, reported = REFUSALS[reason]
            raise Refusal(code or right, reported.format(**facts) if words is None else words)

    behaviour_mutant(name, kills=kills, also=also, fault=fault, source=source)(Refused)


# fmt: off
_refused("errors.internal", "errors.permanent-one-is-not-retryable",
         "Unknown selected fields are the server's own trouble: INTERNAL.",
         Reason.UNKNOWN_FIELDS, code=_Code.INTERNAL)
_refused("errors.format-unimplemented", "errors.unspecified-format-has-its-code",
         "A request without a data format is refused with UNIMPLEMENTED.",
         Reason.FORMAT_UNSPECIFIED, code=_Code.UNIMPLEMENTED, source=_UNSPECIFIED)
_refused("errors.missing-table-invalid", "errors.missing-table-has-its-code",
         "A table that does not exist is refused with INVALID_ARGUMENT.",
         Reason.MISSING_TABLE, code=_Code.INVALID_ARGUMENT)
_refused("errors.unknown-column-not-found", "errors.unknown-column-has-its-code",
         "Unknown selected fields are refused with NOT_FOUND.",
         Reason.UNKNOWN_FIELDS, code=_Code.NOT_FOUND)
_refused("errors.restriction-not-found", "errors.bad-restriction-has-its-code",
         "A bad restriction is refused with NOT_FOUND.",
         Reason.BAD_RESTRICTION, code=_Code.NOT_FOUND)
_refused("errors.long-restriction-out-of-range", "errors.long-restriction-has-its-code",
         "A restriction above the limit is refused with OUT_OF_RANGE.",
         Reason.LONG_RESTRICTION, code=_Code.OUT_OF_RANGE)
_refused("errors.preferred-out-of-range", "errors.preferred-above-maximum-has-its-code",
         "A preferred_min_stream_count above the maximum is refused with OUT_OF_RANGE.",
         Reason.PREFERRED_OVER_MAX, code=_Code.OUT_OF_RANGE)
_refused("errors.snapshot-out-of-range", "errors.snapshot-outside-window-has-its-code",
         "A snapshot time before the time-travel window is refused with OUT_OF_RANGE.",
         Reason.SNAPSHOT_TOO_OLD, code=_Code.OUT_OF_RANGE)
_refused("errors.stream-unimplemented", "errors.unrecorded-refusal-has-a-fitting-code",
         "A stream that does not exist is refused with UNIMPLEMENTED.",
         Reason.UNKNOWN_STREAM, code=_Code.UNIMPLEMENTED,
         also={"query-results.other-location-is-not-found": "a job has no stream in another location"})
# fmt: on


@behaviour_mutant("errors.parent-denied", kills="errors.bad-parent-has-its-code")
class ParentDenied(ReadService):
    """A parent that is not a project is refused with PERMISSION_DENIED."""

    def check_request(self, request: Any) -> None:
        try:
            super().check_request(request)
        except Refusal as refusal:
            if re.fullmatch(r"projects/[^/]+", request.parent):
                raise
            raise Refusal(grpc.StatusCode.PERMISSION_DENIED, refusal.details) from None


@behaviour_mutant("offset.beyond-out-of-range", kills="offsets.beyond-the-end-has-its-code")
class OffsetOutOfRange(ReadService):
    """An offset beyond the end of a session's own stream is refused with OUT_OF_RANGE."""

    def check_offset(self, stream: Any, offset: int) -> None:
        own = stream.rows.num_rows in {0, stream.session.snapshot.rows.num_rows}
        if offset > stream.rows.num_rows and own:
            raise coded(grpc.StatusCode.OUT_OF_RANGE, Reason.OFFSET_BEYOND_END, stream=stream.name, offset=offset)
        super().check_offset(stream, offset)


# --- texts -----------------------------------------------------------------------------------------


# fmt: off
_refused("errors.no-message", "errors.message-says-something",
         "A bad resource name is refused without a word.",
         Reason.BAD_RESOURCE, words="")
_refused("errors.column-not-named", "errors.unknown-column-is-named",
         "The refusal of unknown fields does not say which.",
         Reason.UNKNOWN_FIELDS, words="request failed: bad selected fields")
_refused("errors.table-not-named", "errors.missing-table-is-named",
         "The refusal of a missing table does not say which.",
         Reason.MISSING_TABLE, words="Not found")
# fmt: on


@behaviour_mutant("errors.rows-before-refusal", kills="errors.refused-read-has-no-rows")
class RowsBeforeRefusal(ReadService):
    """A read from beyond the end delivers the last row before it is refused."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        stream = self.stream_of(request)
        last = stream.rows.num_rows - 1
        if request.offset > last + 1 and last >= 0:
            yield from super().read_rows(proto.ReadRowsRequest(read_stream=request.read_stream, offset=last))
        yield from super().read_rows(request)


@behaviour_mutant(
    "schema.resumed-differs",
    kills="offsets.resumed-schema-is-the-sessions",
    also=IN_RESULTS
    | {
        "body.buffer-count": "times of that schema are numbers where the read asked for texts",
        "values.timestamp-limits": "the bytes of texts are read as times by that schema",
    },
)
class ResumedSchemaDiffers(ReadService):
    """A resumed read carries a schema whose first column has another name."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        for answer in super().read_rows(request):
            if request.offset and answer.WhichOneof("schema") == "arrow_schema":
                stream = self.stream_of(request)
                answer.arrow_schema.serialized_schema = self.encode_schema(_renamed(self, stream.session.columns))
            yield answer


def _renamed(service: ReadService, columns: Sequence[Column]) -> Any:
    schema = service.served_schema(columns)
    return schema.set(0, schema.field(0).with_name(schema.field(0).name + "_"))
