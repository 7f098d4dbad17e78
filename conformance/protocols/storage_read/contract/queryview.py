"""An exchange of Storage Read with queries: the answers of jobs.query, and reads of the streams of their jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa

from conformance import wire
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.contract.jobanswer import ARROW_FIELDS, arrow_in
from conformance.contract.raised import remembered_property
from conformance.protocols.storage_read.contract.view import ReadView, StorageCall, StorageView
from conformance.records import Call, ReadResult, RunQuery, Step

__all__ = ["CAPABILITY", "FORMS", "JobView", "ListingView", "QueriesView", "QueryView", "ResultView"]

FORMS: Final = {"NANOS": pa.timestamp("ns", "UTC"), "PICOS": pa.utf8()}
"""The Arrow types that a query may ask for in place of microseconds."""
CAPABILITY: Final = "query-results"
"""What a server declares that answers queries in Arrow."""
_WIDE: Final = (2, 3)
"""The numbers of NANOS and PICOS in ``PicosTimestampPrecision``."""
_WIDE_NAMES: Final = tuple(f"TIMESTAMP_PRECISION_{name}" for name in FORMS)
_OVER_REST: Final = (ReadResult.LISTING, ReadResult.DESCRIBING)


class _JsonView(StorageCall):
    """A call over REST, whose answer is a JSON object."""

    view: QueriesView

    @remembered_property
    def answer(self) -> dict[str, Any] | None:
        """The answer; None if the call failed, or the body is no JSON object."""
        if not self.ok or not self.raw.responses:
            return None
        try:
            return parse_object(self.raw.responses[0])
        except ForeignJsonError:
            return None

    def says(self, key: str) -> str:
        """A field of the answer that is a text; empty if it is absent or something else."""
        value = (self.answer or {}).get(key)
        return value if isinstance(value, str) else ""

    def count(self, key: str) -> str:
        """A number of rows in decimal digits; "0" if it is absent, empty if it is something else.

        The API writes int64 as a text, and parsers of its JSON read a number as well.
        """
        value = (self.answer or {}).get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.says(key) if self.has(key) else "0"

    def shown(self, key: str) -> str:
        """A field of the answer as a finding shows it."""
        value = (self.answer or {}).get(key)
        if isinstance(value, dict):
            return f"an object with {', '.join(sorted(value)) or 'nothing'}, in which it is not"
        return "none" if value is None else f"{str(value)[:40]!r}"

    def has(self, key: str) -> bool:
        """True if the answer has a field with a value: null, and a list or text without content, are none."""
        return (self.answer or {}).get(key) not in (None, [], "")

    @property
    def complete(self) -> bool:
        """True unless the answer says that the query still runs: then it has no rows of any form."""
        return (self.answer or {}).get("jobComplete") is not False

    @property
    def has_arrow(self) -> bool:
        """True if the answer has a field of Arrow, whatever is in it; in JSON, null is no value."""
        return self.has("arrowSchema") or self.has("arrowRecordBatch")


class QueryView(_JsonView):
    """A call of jobs.query: its request and its answer are JSON objects."""

    step: RunQuery

    @remembered_property
    def request(self) -> Any:
        """The request."""
        return parse_object(self.raw.request)

    @property
    def form(self) -> str:
        """The form of times that it names, one of :data:`FORMS`; empty for microseconds."""
        return self.step.timestamps if self.step.timestamps in FORMS else ""

    def _bytes(self, place: int) -> bytes | None:
        try:
            return arrow_in(self.answer or {}, ARROW_FIELDS[place])
        except ValueError:
            return None

    @remembered_property
    def schema(self) -> SchemaBytes | None:
        """The Arrow schema of the page; None if the answer has none in base64."""
        data = self._bytes(0)
        return None if data is None else SchemaBytes(self.index, 0, data, "query")

    @remembered_property
    def batch(self) -> BatchBytes | None:
        """The record batch of the page; None if the answer has none in base64."""
        data = self._bytes(1)
        schema = self.schema.message.schema if self.schema is not None else None
        return None if data is None else BatchBytes(self.index, 0, data, schema, self.view.decompression)

    @property
    def asks_wide(self) -> bool:
        """True if its request names a form of times other than microseconds."""
        try:
            asked = parse_object(self.raw.request).get("arrowSerializationOptions")
        except ForeignJsonError:
            return False
        named = asked.get("picosTimestampPrecision") if isinstance(asked, dict) else None
        return named in _WIDE_NAMES

    @property
    def page_rows(self) -> int | None:
        """The number of rows in the page; None if its batch cannot be read, or is missing although it counts rows."""
        if self.batch is None:
            return None if self.has("arrowRecordBatch") or self.count("pageRowCount") != "0" else 0
        return None if self.batch.arrow() is None else self.batch.rows

    @property
    def has_content(self) -> bool:
        """True if a field of Arrow has a text with content, whatever it is."""
        parts = [((self.answer or {}).get(outer), inner) for outer, inner in ARROW_FIELDS]
        return any(isinstance(part, dict) and isinstance(part.get(inner), str) and part[inner] for part, inner in parts)


class ListingView(_JsonView):
    """A call of jobs.getQueryResults about the job of a query."""

    step: ReadResult

    @remembered_property
    def query(self) -> QueryView | None:
        """The query whose result it lists."""
        return self.view.query_of(self.step, self.index)

    @remembered_property
    def start(self) -> int | None:
        """The index of the first row that it asks for; None behind a listing or a page whose rows cannot be counted."""
        if self.follows_page:
            return None if self.query is None else self.query.page_rows
        if self.step.further:
            rows, start = self._before[-1].rows, self._before[-1].start
            return None if rows is None or start is None else start + len(rows)
        asked = parse_qs(urlsplit(self.raw.request.decode()).query)
        return int(asked.get("startIndex", ["0"])[0])

    @property
    def follows_page(self) -> bool:
        """True if it asks for the rows of the page token that the answer of the query had."""
        return self.step.further and not self._before

    @property
    def _before(self) -> list[ListingView]:
        return [call for call in self.view.listings if call.index < self.index and call.query is self.query]

    @remembered_property
    def rows(self) -> list[Any] | None:
        """The rows in JSON; None if the answer has no list of them, runs still, or is in Arrow."""
        found = (self.answer or {"rows": None}).get("rows") or []
        listed = self.answer is not None and isinstance(found, list)
        return found if listed and self.complete and not self.has_arrow else None

    def texts(self, column: str) -> list[str]:
        """The values of a column whose values are texts; empty if the rows or the schema have another form."""
        try:
            names = [field["name"] for field in (self.answer or {})["schema"]["fields"]]
            return [str(row["f"][names.index(column)]["v"]) for row in self.rows or ()]
        except (KeyError, IndexError, TypeError, ValueError):
            return []


class JobView(_JsonView):
    """A call of jobs.get about the job of a query."""

    step: ReadResult

    @remembered_property
    def query(self) -> QueryView | None:
        """The query whose job it is."""
        return self.view.query_of(self.step, self.index)

    @property
    def state(self) -> object:
        """``status.state``; None if the answer has none."""
        return self._status.get("state")

    @property
    def has_failed(self) -> bool:
        """True if the answer has ``status.errorResult``."""
        return isinstance(self._status.get("errorResult"), dict)

    @property
    def _status(self) -> Mapping[str, Any]:
        status = (self.answer or {}).get("status")
        return status if isinstance(status, dict) else {}


class ResultView(ReadView):
    """A ReadRows call on the stream of a query's job."""

    view: QueriesView
    step: ReadResult  # type: ignore[assignment]  # another step makes the same call

    @property
    def session(self) -> None:
        """None: the stream belongs to no session."""
        return

    @remembered_property
    def query(self) -> QueryView | None:
        """The query whose job it reads."""
        return None if self.step.written else self.view.query_of(self.step, self.index)

    @property
    def codec(self) -> str:
        """The codec that the read names; empty for none."""
        return self.step.buffer_compression or self._of_query(lambda step: step.buffer_compression)

    @property
    def has_form_of_page(self) -> bool:
        """True unless the read names another form of times than the query, by its step or by its request.

        The steps of a recording do not say it.
        """
        if self.query is None or self.form != self.query.form:
            return self.query is None
        named = self.request.arrow_serialization_options.picos_timestamp_precision if self.request is not None else 0
        return (named in _WIDE) == self.query.asks_wide

    @property
    def form(self) -> str:
        """The form of times that the read names, one of :data:`FORMS`; empty for microseconds."""
        named = self.step.timestamps or self._of_query(lambda step: step.timestamps)
        return named if named in FORMS else ""

    def _of_query(self, option: Callable[[RunQuery], str]) -> str:
        """An option of the query, which a read has that names none of its own and is not plain."""
        return "" if self.query is None or self.step.plain else option(self.query.step)

    @remembered_property
    def schema(self) -> wire.Schema | None:
        """The schema that the batches have to fit: the page's, else the first response's.

        A read in another form of times than the page has its own.
        """
        own = self.responses[0].schema if self.responses else None
        page = self.query.schema if self.query is not None and self.has_form_of_page else None
        for bytes_ in (page, own):
            if bytes_ is not None and bytes_.message.schema is not None:
                return bytes_.message.schema
        return None


class QueriesView(StorageView):
    """What the clauses on servers of Storage Read see. The clauses on sessions see no call about a query."""

    @remembered_property
    def served(self) -> tuple[StorageCall, ...]:
        """The calls to the server, in order, whichever party made them; those about queries have views of their own."""
        about_queries = {call.index: call for call in (*self.queries, *self.results, *self.listings, *self.jobs)}
        found = {call.index: call for call in super().served} | about_queries
        return tuple(found[index] for index in sorted(found))

    @property
    def calls(self) -> tuple[StorageCall, ...]:
        """The calls about sessions that carry out a step."""
        return tuple(call for call in super().calls if not isinstance(call, _JsonView | ResultView))

    @remembered_property
    def reads(self) -> tuple[ReadView, ...]:
        """The ReadRows calls on the streams of sessions that carry out a step."""
        return tuple(call for call in super().reads if not isinstance(call, ResultView))

    @remembered_property
    def has_queries(self) -> bool:
        """True if calls are about queries."""
        return bool(self.queries or self.results)

    @property
    def judges_results(self) -> bool:
        """True if calls are about queries, and the case is for servers that declare to answer them in Arrow."""
        return CAPABILITY in self.case.needs and self.has_queries

    @remembered_property
    def queries(self) -> tuple[QueryView, ...]:
        """The calls of jobs.query."""
        return tuple(QueryView(self, index, call) for index, call in self._driven(RunQuery))

    @remembered_property
    def results(self) -> tuple[ResultView, ...]:
        """The ReadRows calls on the streams of queries' jobs."""
        found = self._driven(ReadResult)
        return tuple(ResultView(self, index, call) for index, call in found if call.method not in _OVER_REST)

    @remembered_property
    def listings(self) -> tuple[ListingView, ...]:
        """The calls of jobs.getQueryResults."""
        found = self._driven(ReadResult)
        return tuple(ListingView(self, index, call) for index, call in found if call.method == ReadResult.LISTING)

    @remembered_property
    def jobs(self) -> tuple[JobView, ...]:
        """The calls of jobs.get."""
        found = self._driven(ReadResult)
        return tuple(JobView(self, index, call) for index, call in found if call.method == ReadResult.DESCRIBING)

    def query_of(self, step: ReadResult, before: int) -> QueryView | None:
        """The query that a step reads, by a call before that of this index."""
        named = [call for call in self.queries if call.step.label == step.query and call.index < before]
        return named[-1] if named else None

    def _driven(self, kind: type[Step]) -> Iterator[tuple[int, Call]]:
        """The calls that carry out a step of this kind, with their indices."""
        steps = self.case.steps
        for index, call in enumerate(self.exchange.calls if self.exchange.driven else ()):
            if isinstance(steps[call.step], kind):
                yield index, call

    @remembered_property
    def schemas(self) -> list[SchemaBytes]:
        """The Arrow schemas in the exchange, those of pages too."""
        return [*super().schemas, *(query.schema for query in self._judged_queries if query.schema is not None)]

    @remembered_property
    def batches(self) -> list[BatchBytes]:
        """The record batches in the exchange, those of pages too."""
        return [*super().batches, *(query.batch for query in self._judged_queries if query.batch is not None)]

    @property
    def calls_read(self) -> Mapping[str, int]:
        """The place of the call that begins what a reader reads, by the label of its readings."""
        return {query.step.label: query.index for query in self.queries} | dict(super().calls_read)

    @property
    def _judged_queries(self) -> tuple[QueryView, ...]:
        return self.queries if self.judges_results else ()

    def _schema_messages(self) -> Iterator[tuple[int, bytes]]:
        yield from super()._schema_messages()
        yield from ((query.index, query.schema.data) for query in self._judged_queries if query.schema is not None)
