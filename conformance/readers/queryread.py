"""Recorded queries: an answer of jobs.query with Arrow messages, and the reads of the stream of its job.

Source: https://bigquery.googleapis.com/discovery/v1/apis/bigquery/v2/rest, ``QueryRequest`` and ``QueryResponse``.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance import wire
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contract import proto
from conformance.contract.jobanswer import ARROW_FIELDS, arrow_in, name_in
from conformance.readers.fullread import FullRead, RecordedStream
from conformance.records import Call, CallEnd, Case, Exchange, ReadResult, RunQuery

__all__ = [
    "QUERY",
    "SUCCESS",
    "RecordedQuery",
    "job_in",
    "job_of",
    "query_reads",
    "recorded_queries",
    "refused_queries",
    "results_of",
]

QUERY: Final = "jobs.query"
SUCCESS: Final = 200
_REFUSED: Final = re.compile(r"HTTP ([45][0-9]{2}) (.*)", re.DOTALL)
"""The status of a call that ended in an error of HTTP, as drivers and the proxy record it, and the body."""
_STREAM: Final = re.compile(r"projects/[^/]+/locations/[^/]+/jobs/([^/]+)/streams/_default")
_MICROS: Final = frozenset({"PICOS_TIMESTAMP_PRECISION_UNSPECIFIED", "TIMESTAMP_PRECISION_MICROS"})
_PLAIN: Final = frozenset({"", "QUERY_RESULTS_FORMAT_UNSPECIFIED", "STRUCT_ENCODING"})


@dataclasses.dataclass(frozen=True, slots=True)
class RecordedQuery:
    """A query with the body of its request and of its answer, which are JSON objects.

    ``alone`` is True if it answers every query for the same format: a client that judges one full read writes the
    statement and chooses the options itself. ``status`` is that of HTTP.
    """

    request: bytes
    answer: bytes
    alone: bool = False
    status: int = SUCCESS

    @property
    def arrow(self) -> bool:
        """True if the request asks for results in Arrow."""
        return _asks_arrow(_parsed(self.request))

    @property
    def reference(self) -> dict[str, Any]:
        """The name of its job as the answer has it, with the location; empty if it names none."""
        answer = _parsed(self.answer)
        named = answer.get("jobReference")
        location = {"location": answer["location"]} if isinstance(answer.get("location"), str) else {}
        return location | named if isinstance(named, dict) else {}

    @property
    def job(self) -> str:
        """The id of its job; empty if the answer names none."""
        return name_in(self.reference.get("jobId"))

    @property
    def name(self) -> str:
        """The id of its job, or the text of the query if no job was made."""
        return self.job or str(_parsed(self.request).get("query", ""))

    def state(self) -> dict[str, Any]:
        """What was asked and in which job it ran, as JSON; of one that was refused, the status too."""
        asked = _parsed(self.request)
        made = {"query": asked.get("query", ""), "results": asked.get("queryResultsFormat", ""), "job": self.job}
        return made if self.status == SUCCESS else made | {"status": self.status}

    def resource(self) -> dict[str, Any]:
        """Its job as jobs.get answers: done, with the text of the query.

        google-cloud-bigquery 3.47.0 takes the location of the stream from here, and not from the answer.
        """
        query = {"query": str(_parsed(self.request).get("query", "")), "useLegacySql": False}
        return {
            "kind": "bigquery#job",
            "jobReference": self.reference,
            "configuration": {"jobType": "QUERY", "query": query},
            "status": {"state": "DONE"},
        }

    def answers(self, body: Mapping[str, Any]) -> bool:
        """True if a client that asks this has to get the recorded answer."""
        recorded = _parsed(self.request)
        if self.alone:
            return _asks_arrow(body) == _asks_arrow(recorded)
        return _question(body) == _question(recorded) and self._rows_in_page <= _most(body)

    @property
    def _rows_in_page(self) -> int:
        answer = _parsed(self.answer)
        rows = answer.get("rows")
        return _page_rows(answer) or (len(rows) if isinstance(rows, list) else 0)


def recorded_queries(exchange: Exchange) -> Iterator[tuple[Call, RecordedQuery]]:
    """The queries of an exchange that ended in OK with a JSON object, with their calls."""
    for call in exchange.calls:
        if call.method == QUERY and _complete(call) and call.responses and _parsed(call.responses[0]):
            yield call, RecordedQuery(call.request, call.responses[0])


def refused_queries(exchange: Exchange) -> Iterator[RecordedQuery]:
    """The queries of an exchange that ended in an error of HTTP, with its body.

    Of a body that is no JSON object, or too long to be kept, the text is the message of an error in its place.
    """
    for call in exchange.calls:
        said = _REFUSED.fullmatch(call.details) if call.method == QUERY and call.end is CallEnd.COMPLETE else None
        if said is not None and call.status != "OK":
            status, body = int(said[1]), said[2].encode()
            if not _parsed(body):
                body = json.dumps({"error": {"code": status, "message": said[2]}}).encode()
            yield RecordedQuery(call.request, body, status=status)


def job_of(call: Call) -> str:
    """The id of the job that the answer to a query names; empty if it names none."""
    return RecordedQuery(call.request, call.responses[0]).job if call.responses else ""


def results_of(call: Call) -> str:
    """The format of results that a query asks for; empty if it names none."""
    return name_in(_parsed(call.request).get("queryResultsFormat"))


def job_in(stream: str) -> str:
    """The id of the job whose stream has this name; empty for the stream of a session."""
    found = _STREAM.fullmatch(stream)
    return found[1] if found else ""


def query_reads(case: Case, exchange: Exchange) -> Iterator[FullRead]:
    """The results in Arrow that a client can read to the end, in the order of the queries.

    Where rows remain behind the page, a read of the job's stream from there has to be recorded that ended in OK, and
    the answer has to name the job's place, which is a part of the stream's name. An answer that does not say that the
    query is complete is left to the clauses: clients ask on, and what they would be told is not recorded. So is a
    result whose times are no microseconds, the only form that clients ask for.
    """
    if not exchange.driven:
        return
    for call, query in recorded_queries(exchange):
        step = case.steps[call.step]
        answer = _parsed(query.answer)
        rows = _page_rows(answer)
        if not isinstance(step, RunQuery) or not query.arrow or rows is None or answer.get("jobComplete") is not True:
            continue
        if _form(_parsed(query.request)):
            continue
        streams: tuple[RecordedStream, ...] = ()
        if answer.get("pageToken"):
            streams = tuple(_streams(case, exchange, step.label, rows))[:1]
            if not streams or not name_in(query.reference.get("location")):
                continue
        yield FullRead(
            case_id=case.id,
            label=step.label,
            request=query.request,
            session=query.answer,
            streams=streams,
            columns=case.table.columns,
            offset=rows,
        )


def _streams(case: Case, exchange: Exchange, label: str, rows: int) -> Iterator[RecordedStream]:
    """The reads of the stream of a query's job from the row behind the page."""
    for call in exchange.calls:
        step = case.steps[call.step]
        if not isinstance(step, ReadResult) or step.query != label or not _complete(call):
            continue
        if not (step.over_rest or step.written or step.has_own_options or step.job or step.location or step.take):
            request = proto.ReadRowsRequest.FromString(call.request)
            if request.offset == rows:
                yield RecordedStream(request.read_stream, call.responses)


def _page_rows(answer: Mapping[str, Any]) -> int | None:
    """The rows that the page holds, 0 without a batch; None if the answer has no Arrow schema, or no such batch."""
    try:
        schema, batch = (arrow_in(answer, field) for field in ARROW_FIELDS)
    except ValueError:
        return None
    if schema is None:
        return None
    return sum(wire.batch_lengths(batch)) if batch else 0


def _question(body: Mapping[str, Any]) -> tuple[object, ...]:
    """A request for a query without the options that change nothing in its answer."""
    options = body.get("arrowSerializationOptions")
    codec = (options if isinstance(options, dict) else {}).get("bufferCompression")
    codec = "" if codec in (None, "COMPRESSION_UNSPECIFIED") else codec
    text = str(body.get("query", "")).strip().rstrip(";").rstrip()
    return text, _asks_arrow(body), (codec, _form(body)) if _asks_arrow(body) else ""


def _form(body: Mapping[str, Any]) -> str:
    """The form of times that a query names; empty for microseconds."""
    options = body.get("arrowSerializationOptions")
    named = name_in(options.get("picosTimestampPrecision")) if isinstance(options, dict) else ""
    return "" if named in _MICROS else named


def _most(body: Mapping[str, Any]) -> float:
    """The rows that a page may have. Any page has fewer at the server's wish."""
    most = str(body.get("maxResults", ""))
    return int(most) if most.isdecimal() and len(most) < 19 else math.inf


def _asks_arrow(body: Mapping[str, Any]) -> bool:
    return name_in(body.get("queryResultsFormat")) not in _PLAIN


def _parsed(body: bytes) -> dict[str, Any]:
    """The object of a body; an empty one for anything else."""
    try:
        return parse_object(body)
    except ForeignJsonError:
        return {}


def _complete(call: Call) -> bool:
    return call.end is CallEnd.COMPLETE and call.status == "OK"
