"""Query results in Arrow: what a page and the stream of its job have to hold, on the answers of the reference."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge
from conformance.engine.corpus import load_corpus
from conformance.generate import materialise
from conformance.protocols.storage_read.reference.hosted import storage_target
from conformance.records import CallEnd, Case, Exchange, Outcome
from tests.fixtures import ROOT

load_chapters()
CHAPTER = [clause for clause in CLAUSES.values() if clause.chapter == "query-results"]
CASES = {name: case for name, case in load_corpus(Path(ROOT / "cases")).items() if name.startswith("query-results.")}
Spoil = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def exchanges() -> Iterator[dict[str, Exchange]]:
    """What the reference answers to each case."""
    with closing(storage_target()) as target:
        yield {name: target.drive(case, materialise(case.table)) for name, case in CASES.items()}


def failed(case: Case, exchange: Exchange) -> set[str]:
    """The clauses of the chapter that fail."""
    verdicts = judge(case, exchange, materialise(case.table), clauses=CHAPTER)
    return {one.clause.partition(".")[2] for one in verdicts if one.outcome is not Outcome.PASS}


def spoilt(exchange: Exchange, spoil: Spoil) -> Exchange:
    """The exchange with another answer to its query."""
    first, *others = exchange.calls
    answer = json.loads(first.responses[0])
    spoil(answer)
    changed = dataclasses.replace(first, responses=(json.dumps(answer).encode(),))
    return dataclasses.replace(exchange, calls=(changed, *others))


@pytest.mark.parametrize("name", CASES)
def test_the_reference_fails_nothing(exchanges: dict[str, Exchange], name: str) -> None:
    """On any case; each makes the calls that it names, but for the stream of a query that is an error."""
    assert failed(CASES[name], exchanges[name]) == set()
    unread = {"query-results.failing-row": (1,)}
    assert exchanges[name].skipped_steps == unread.get(name, ())


DEVIATIONS: tuple[tuple[str, str, Spoil], ...] = (
    ("query-results.asked-of-all", "arrow-or-an-error", lambda a: (a.pop("arrowSchema"), a.pop("arrowRecordBatch"))[0]),
    ("query-results.asked-of-all", "arrow-or-an-error", lambda a: a.update(arrowSchema={}, arrowRecordBatch={})),
    ("query-results.plain", "answer-is-complete", lambda a: a.pop("jobComplete")),
    ("query-results.plain", "answer-is-complete", lambda a: a.update(jobComplete="true")),
    ("query-results.plain", "counts-are-texts", lambda a: a.update(pageRowCount=4)),
    ("query-results.plain", "counts-are-texts", lambda a: a.update(totalRows=11)),
    ("query-results.dry-run", "dry-run-has-no-rows", lambda a: a.update(rows=[{"f": []}])),
    ("query-results.dry-run", "dry-run-has-no-rows", lambda a: a.update(pageToken="1")),
    ("query-results.plain", "no-rows-in-json", lambda a: a.update(rows=[{"f": []}])),
    ("query-results.plain", "page-count-is-true", lambda a: a.update(pageRowCount="11")),
    ("query-results.plain", "total-is-true", lambda a: a.update(totalRows="12")),
    ("query-results.plain", "token-says-that-rows-remain", lambda a: a.pop("pageToken")),
    ("query-results.one-page", "token-says-that-rows-remain", lambda a: a.update(pageToken="1", jobReference=JOB)),
    ("query-results.one-page", "token-says-that-rows-remain", lambda a: a.update(pageToken=5, jobReference=JOB)),
    ("query-results.optional-job", "job-is-named", lambda a: a["jobReference"].update(projectId="\ud800")),
    ("query-results.plain", "job-is-named", lambda a: (a.pop("location"), a["jobReference"].pop("location"))[0]),
    ("query-results.created", "statement-without-rows-has-no-arrow", lambda a: a.update(pageToken="1")),
    ("query-results.created", "statement-without-rows-has-no-arrow", lambda a: a.update(arrowSchema={})),
    ("query-results.struct-encoding", "plain-query-has-rows", lambda a: a.pop("schema")),
    ("query-results.struct-encoding", "plain-query-has-rows", lambda a: (a.pop("rows"), a.pop("pageToken"))[0]),
)


def lined(answer: dict[str, Any]) -> str:
    """The schema in lines of 76 characters, as MIME writes base64."""
    return base64.encodebytes(base64.b64decode(answer["arrowSchema"]["serializedSchema"])).decode()


JOB = {"projectId": "p", "jobId": "j", "location": "us"}


@pytest.mark.parametrize(("name", "clause", "spoil"), DEVIATIONS)
def test_a_deviation_fails_its_clause_alone(
    exchanges: dict[str, Exchange], name: str, clause: str, spoil: Spoil
) -> None:
    """One field of the answer."""
    assert failed(CASES[name], spoilt(exchanges[name], spoil)) == {clause}


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda a: a.update(totalRows="0"), id="cached results, whose total is 0"),
        pytest.param(lambda a: a.update(cacheHit=False, queryId="x", other={"field": 1}), id="other fields"),
        pytest.param(lambda a: a.update(rows=None, schema=None, errors=None), id="null, which is no value"),
        pytest.param(lambda a: a.update(rows=[]), id="no rows, in a list"),
        pytest.param(lambda a: a["arrowSchema"].update(serializedSchema=lined(a)), id="base64 with line ends"),
        pytest.param(lambda a: a["jobReference"].pop("location"), id="the location of the answer"),
    ],
)
def test_what_is_open_fails_nothing(exchanges: dict[str, Exchange], spoil: Spoil) -> None:
    """The clients take it."""
    assert failed(CASES["query-results.plain"], spoilt(exchanges["query-results.plain"], spoil)) == set()


@pytest.mark.parametrize("batch", [None, "absent"])
def test_counts_of_no_rows_may_be_absent(exchanges: dict[str, Exchange], batch: object) -> None:
    """JSON made from a message of proto3 has no field that is zero."""

    def spoil(answer: dict[str, Any]) -> None:
        del answer["totalRows"], answer["pageRowCount"], answer["arrowRecordBatch"]
        if batch is None:
            answer["arrowRecordBatch"] = None

    assert failed(CASES["query-results.no-rows"], spoilt(exchanges["query-results.no-rows"], spoil)) == set()


def test_where_a_page_ends_is_unknown_without_its_batch(exchanges: dict[str, Exchange]) -> None:
    """The listing for its token is then not judged by the rows that it begins with."""
    case = CASES["query-results.token-of-the-page"]
    found = failed(case, spoilt(exchanges[case.id], lambda answer: answer.pop("arrowRecordBatch")))

    assert found == {"page-has-a-batch", "page-count-is-true"}


@pytest.mark.parametrize(("status", "fails"), [("INVALID_ARGUMENT", set()), ("INTERNAL", {"listing-has-rows"})])
def test_a_listing_may_refuse_the_token_of_a_page(exchanges: dict[str, Exchange], status: str, fails: set[str]) -> None:
    """It has to say that rows remain, and may lead nowhere. A fault of the server is no refusal."""
    case = CASES["query-results.token-of-the-page"]
    query, listing, *_ = exchanges[case.id].calls
    refused = dataclasses.replace(listing, status=status, responses=())

    found = failed(case, dataclasses.replace(exchanges[case.id], calls=(query, refused)))

    assert found & {"listing-has-rows"} == fails


@pytest.mark.parametrize("status", ["INVALID_ARGUMENT", "NOT_FOUND", "UNIMPLEMENTED"])
def test_a_server_without_the_feature_may_refuse(exchanges: dict[str, Exchange], status: str) -> None:
    """The case for every server fails nothing then."""
    case = CASES["query-results.asked-of-all"]
    (call,) = exchanges[case.id].calls
    refused = dataclasses.replace(exchanges[case.id], calls=(dataclasses.replace(call, status=status, responses=()),))

    assert failed(case, refused) == set()


def test_a_server_without_the_feature_is_judged_by_one_clause(exchanges: dict[str, Exchange]) -> None:
    """An answer whose fields of Arrow are null has lost every row; nothing else of it is judged."""

    def spoil(answer: dict[str, Any]) -> None:
        answer.update(arrowSchema=None, arrowRecordBatch=None, rows=[{"f": []}])

    case = CASES["query-results.asked-of-all"]

    assert failed(case, spoilt(exchanges[case.id], spoil)) == {"arrow-or-an-error"}


def test_a_server_that_declares_the_feature_owes_the_schema(exchanges: dict[str, Exchange]) -> None:
    """To ignore the format is then a violation of MUST."""

    def spoil(answer: dict[str, Any]) -> None:
        answer.update(arrowSchema=None, arrowRecordBatch=None, rows=[{"f": []}])

    case = CASES["query-results.one-page"]

    assert failed(case, spoilt(exchanges[case.id], spoil)) >= {"arrow-or-an-error", "page-has-a-schema"}


@pytest.mark.parametrize("name", ["query-results.maximum", "query-results.one-page"])
def test_columns_of_one_name_are_a_finding(exchanges: dict[str, Exchange], name: str) -> None:
    """And no error of the suite, whether rows follow in the stream or not."""

    def spoil(answer: dict[str, Any]) -> None:
        schema = pa.schema([pa.field("x", kind) for kind in (pa.int64(), pa.utf8(), pa.list_(pa.int64()))])
        answer["arrowSchema"] = {"serializedSchema": base64.b64encode(schema.serialize().to_pybytes()).decode()}

    case = CASES[name]
    verdicts = judge(case, spoilt(exchanges[name], spoil), materialise(case.table), clauses=CHAPTER)

    assert [one for one in verdicts if one.outcome is Outcome.ERROR] == []
    (columns,) = (one for one in verdicts if one.clause == "query-results.page-has-the-columns")
    assert [(found.required, found.observed) for found in columns.findings] == [
        ("'row_id' of int64 as column 0", "'x' of int64"),
        ("'word' of string as column 1", "'x' of string"),
        ("'parts' of list<item: int64> as column 2", "'x' of list<item: int64>"),
    ]


@pytest.mark.parametrize("text", ["", "*", "QUJD", 5, None, [], {"x": 1}])
def test_any_text_in_place_of_base64_is_a_finding(exchanges: dict[str, Exchange], text: object) -> None:
    """And no error of the suite."""

    def spoil(answer: dict[str, Any]) -> None:
        answer["arrowRecordBatch"] = {"serializedRecordBatch": text}

    case = CASES["query-results.plain"]
    verdicts = judge(case, spoilt(exchanges[case.id], spoil), materialise(case.table))

    assert any(one.outcome is Outcome.FAIL for one in verdicts)
    assert [one for one in verdicts if one.outcome is Outcome.ERROR] == []


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff", b"[" * 5000])
def test_a_body_that_is_no_object_is_a_finding(exchanges: dict[str, Exchange], body: bytes) -> None:
    """Nothing else is judged on it."""
    case = CASES["query-results.one-page"]
    (call,) = exchanges[case.id].calls
    exchange = dataclasses.replace(exchanges[case.id], calls=(dataclasses.replace(call, responses=(body,)),))

    assert "answer-is-json" in failed(case, exchange)


def test_times_of_another_digit_are_other_rows(exchanges: dict[str, Exchange]) -> None:
    """A text of a page is compared as the time that it says."""
    case = CASES["query-results.times"]
    calls = list(exchanges[case.id].calls)
    place = next(place for place, call in enumerate(calls) if b"PICOS" in call.request and call.method == "jobs.query")
    answer = json.loads(calls[place].responses[0])
    batch = base64.b64decode(answer["arrowRecordBatch"]["serializedRecordBatch"])
    changed = batch.replace(b"1678-01", b"1679-01")
    answer["arrowRecordBatch"]["serializedRecordBatch"] = base64.b64encode(changed).decode()
    calls[place] = dataclasses.replace(calls[place], responses=(json.dumps(answer).encode(),))

    found = failed(case, dataclasses.replace(exchanges[case.id], calls=tuple(calls)))

    assert changed != batch
    assert "page-has-rows-of-the-result" in found


def listed(exchange: Exchange, spoil: Spoil) -> Exchange:
    """The exchange with another answer to its last listing."""
    *others, last = exchange.calls
    answer = json.loads(last.responses[0])
    spoil(answer)
    changed = dataclasses.replace(last, responses=(json.dumps(answer).encode(),))
    return dataclasses.replace(exchange, calls=(*others, changed))


LISTINGS = [
    pytest.param(lambda a: None, set(), id="the rows from the index on"),
    pytest.param(lambda a: a.update(rows=[{"f": [{"v": 1900}]}]), set(), id="a number, which is no text"),
    pytest.param(lambda a: (a.pop("rows"), a.update(pageToken="2"))[1], {"listing-has-rows"}, id="no row yet"),
    pytest.param(lambda a: a.update(rows=[{"f": [{"v": "1902"}]}]), {"listing-begins-at-the-index"}, id="another row"),
    pytest.param(lambda a: a.update(rows=a["rows"] * 2), {"listing-begins-at-the-index"}, id="too many"),
    pytest.param(lambda a: a.update(rows=5), set(), id="no list"),
    pytest.param(lambda a: a.update(rows=[5]), set(), id="a row of another form"),
    pytest.param(lambda a: a.update(rows=[{"f": []}]), set(), id="a row without cells"),
    pytest.param(lambda a: a.update(schema={"fields": 5}), set(), id="no names"),
]


@pytest.mark.parametrize(("spoil", "clauses"), LISTINGS)
def test_a_listing_begins_at_its_index(exchanges: dict[str, Exchange], spoil: Spoil, clauses: set[str]) -> None:
    """The last listing of three rows, from the last one to the first, is that of the row at index 2."""
    case = CASES["query-results.listing"]

    assert failed(case, listed(exchanges[case.id], spoil)) == clauses


def test_a_server_may_refuse_parameters(exchanges: dict[str, Exchange]) -> None:
    """What it has of SQL is no part of query results."""
    case = CASES["query-results.parameter"]
    first, *_ = exchanges[case.id].calls
    refused = dataclasses.replace(first, status="INVALID_ARGUMENT", responses=())

    assert failed(case, dataclasses.replace(exchanges[case.id], calls=(refused,), skipped_steps=(1,))) == set()


def test_what_a_page_of_no_rows_has_is_open(exchanges: dict[str, Exchange]) -> None:
    """But for its token, if the answer has Arrow."""
    case = CASES["query-results.zero-maximum"]

    def without_arrow(answer: dict[str, Any]) -> None:
        del answer["arrowSchema"], answer["arrowRecordBatch"], answer["pageToken"]

    verdicts = judge(case, spoilt(exchanges[case.id], without_arrow), materialise(case.table), clauses=CHAPTER)
    assert not any(one.outcome is Outcome.FAIL for one in verdicts)
    assert failed(case, spoilt(exchanges[case.id], lambda a: a.pop("pageToken"))) == {"token-says-that-rows-remain"}


def test_a_parameter_may_be_refused_whatever_its_value_is(exchanges: dict[str, Exchange]) -> None:
    """The second query is one of the same text."""
    case = CASES["query-results.other-parameter"]
    calls = exchanges[case.id].calls[:2]
    refused = tuple(dataclasses.replace(call, status="INVALID_ARGUMENT", responses=()) for call in calls)

    assert failed(case, dataclasses.replace(exchanges[case.id], calls=refused, skipped_steps=(2,))) == set()


@pytest.mark.parametrize(
    ("answer", "stream", "clauses"),
    [
        pytest.param({"errors": [{"reason": "invalidQuery"}]}, "OK", set(), id="an error of the answer"),
        pytest.param({"jobComplete": False}, "OK", set(), id="a query that still runs"),
        pytest.param({}, "INVALID_ARGUMENT", set(), id="an error of the stream"),
        pytest.param({}, "OK", {"failing-row-is-an-error"}, id="no error"),
        pytest.param({}, "", {"failing-row-is-an-error"}, id="no error, and no stream"),
    ],
)
def test_a_query_that_fails_at_a_row_says_so_somewhere(
    exchanges: dict[str, Exchange], answer: dict[str, Any], stream: str, clauses: set[str]
) -> None:
    """In its answer, or at the end of its stream."""
    case = CASES["query-results.failing-row"]
    plain = exchanges["query-results.plain"].calls
    body = json.dumps({"jobComplete": True, "jobReference": JOB} | answer).encode()
    first = dataclasses.replace(exchanges[case.id].calls[0], status="OK", responses=(body,))
    read = dataclasses.replace(plain[1], step=1, status=stream, responses=())
    calls, skipped = ((first, read), ()) if stream else ((first,), (1,))

    assert failed(case, dataclasses.replace(exchanges[case.id], calls=calls, skipped_steps=skipped)) == clauses


def test_a_column_without_a_name_has_any_name(exchanges: dict[str, Exchange]) -> None:
    """But the same one everywhere."""
    case = CASES["query-results.unnamed-column"]
    with closing(storage_target("query-results.unnamed-column-has-two-names")) as target:
        exchange = target.drive(case, materialise(case.table))

    assert failed(case, exchange) == {"stream-has-the-schema-of-the-page"}


def test_a_running_query_names_its_job_and_has_rows_later(exchanges: dict[str, Exchange]) -> None:
    """The reference does not end in no time; a server that does is judged as ever."""
    case = CASES["query-results.no-wait"]
    first, listing, *reads = exchanges[case.id].calls
    answer = json.loads(first.responses[0])

    assert answer["jobComplete"] is False
    assert answer["jobReference"]["jobId"]
    assert json.loads(listing.responses[0])["jobComplete"] is True
    assert failed(case, spoilt(exchanges[case.id], lambda a: a.pop("jobReference"))) == {"running-job-is-named"}

    fewer = [dataclasses.replace(read, responses=read.responses[1:]) for read in reads]
    lost = dataclasses.replace(exchanges[case.id], calls=(first, listing, *fewer))
    assert failed(case, lost) == {"waited-job-has-a-stream"}


def test_a_job_that_is_not_done_owes_no_stream(exchanges: dict[str, Exchange]) -> None:
    """A refusal is right as long as jobs.getQueryResults says that the query runs."""
    case = CASES["query-results.no-wait"]
    first, listing, *reads = exchanges[case.id].calls
    running = dataclasses.replace(listing, responses=(json.dumps({"jobComplete": False}).encode(),))
    refused = [dataclasses.replace(read, status="FAILED_PRECONDITION", responses=()) for read in reads]
    exchange = dataclasses.replace(exchanges[case.id], calls=(first, running, *refused))
    verdicts = judge(case, exchange, materialise(case.table))

    assert [one for one in verdicts if one.outcome in (Outcome.FAIL, Outcome.ERROR)] == []


def test_what_is_read_of_a_removed_table_is_judged_by_one_clause(exchanges: dict[str, Exchange]) -> None:
    """No document says in which words a server that loses the result may refuse it."""
    case = CASES["query-results.table-removed"]
    first, *reads = exchanges[case.id].calls
    refused = [dataclasses.replace(read, status="NOT_FOUND", responses=()) for read in reads]
    exchange = dataclasses.replace(exchanges[case.id], calls=(first, *refused))

    assert failed(case, exchange) == {"result-outlives-its-table"}


def test_a_cancelled_read_is_not_judged(exchanges: dict[str, Exchange]) -> None:
    """Its client ended it, and the reads after it have every row."""
    calls = exchanges["query-results.cancelled"].calls

    assert [call.end for call in calls[1:]] == [CallEnd.CANCELLED, CallEnd.COMPLETE] * 2
    assert [len(call.responses) for call in calls if call.end is CallEnd.CANCELLED] == [1, 1]


def test_other_calls_are_made_while_a_read_is_held_open(exchanges: dict[str, Exchange]) -> None:
    """Its place is that of its beginning."""
    calls = exchanges["query-results.held-open"].calls

    assert [call.step for call in calls] == list(range(6))


def test_requests_in_full_name_what_is_unspecified(exchanges: dict[str, Exchange]) -> None:
    """As google-cloud-bigquery (Python) does, whose ``requestId`` is the same for a query that is sent again."""
    bodies = [json.loads(call.request) for call in exchanges["query-results.with-each-field"].calls[::2]]
    again = [json.loads(call.request) for call in exchanges["query-results.sent-again"].calls[:2]]

    assert [body["formatOptions"] for body in bodies] == [{"useInt64Timestamp": True}] * 3
    assert bodies[1]["arrowSerializationOptions"] == {
        "bufferCompression": "COMPRESSION_UNSPECIFIED",
        "picosTimestampPrecision": "PICOS_TIMESTAMP_PRECISION_UNSPECIFIED",
    }
    assert bodies[0]["requestId"] != bodies[1]["requestId"]
    assert "requestId" not in bodies[2]
    assert again[0] == again[1]
    assert len(again[0]["requestId"]) == 36


def answering(exchange: Exchange, place: int, spoil: Spoil) -> Exchange:
    """The exchange with another answer to a call."""
    calls = list(exchange.calls)
    answer = json.loads(calls[place].responses[0])
    spoil(answer)
    calls[place] = dataclasses.replace(calls[place], responses=(json.dumps(answer).encode(),))
    return dataclasses.replace(exchange, calls=tuple(calls))


ABOUT_JOBS: tuple[tuple[str, int, str, Spoil], ...] = (
    ("listing-pages", 1, "listing-total-is-true", lambda a: a.update(totalRows="0")),
    ("listing-pages", 1, "listing-total-is-true", lambda a: a.pop("totalRows")),
    ("listing-pages", 1, "", lambda a: a.pop("pageToken")),
    ("listing-pages", 1, "", lambda a: a.pop("rows")),
    ("listing-pages", 2, "listing-begins-at-the-index", lambda a: a.pop("pageToken")),
    ("listing-pages", 3, "listing-begins-at-the-index", lambda a: a["rows"].reverse()),
    ("listing-pages", 6, "listing-keeps-the-maximum", lambda a: a["rows"].append({"f": [{"v": "4300"}, {"v": "a"}]})),
    ("listing-times", 3, "listings-agree", lambda a: a["rows"][0]["f"][1].update(v="1969-12-31T23:59:59.5Z")),
    ("job", 1, "job-is-found", lambda a: a["status"].update(state="RUNNING")),
    ("job", 1, "job-is-found", lambda a: a.update(status=5)),
    ("job", 1, "job-is-found", lambda a: a.update(jobReference=None)),
    ("job", 6, "", lambda a: a["status"].update(state="RUNNING")),
    ("job", 1, "job-names-its-table", lambda a: a["configuration"]["query"].pop("destinationTable")),
    ("job", 1, "job-names-its-table", lambda a: a["configuration"]["query"]["destinationTable"].update(tableId="")),
    ("job", 1, "job-names-its-table", lambda a: a.update(configuration=[])),
    ("job", 6, "", lambda a: (a["status"].update(state="RUNNING"), a.pop("configuration"))),
    ("changes", 1, "statement-counts-its-rows", lambda a: a.update(numDmlAffectedRows="2")),
    ("changes", 3, "statement-counts-its-rows", lambda a: a.pop("numDmlAffectedRows")),
    ("changes", 6, "repetition-runs-once", lambda a: a.update(numDmlAffectedRows="6")),
    ("default-dataset", 0, "default-dataset-is-used", lambda a: a.update(errors=[{}])),
    ("options-of-the-read", 0, "", lambda a: a.update(cacheHit=False)),
)


@pytest.mark.parametrize(("name", "place", "clause", "spoil"), ABOUT_JOBS)
def test_what_is_said_of_jobs(exchanges: dict[str, Exchange], name: str, place: int, clause: str, spoil: Spoil) -> None:
    """One field of an answer to another call than the first query."""
    case = CASES[f"query-results.{name}"]

    assert failed(case, answering(exchanges[case.id], place, spoil)) == ({clause} if clause else set())


def test_a_job_that_is_not_found_is_a_finding(exchanges: dict[str, Exchange]) -> None:
    """Its query was answered."""
    case = CASES["query-results.job"]
    first, asked, *others = exchanges[case.id].calls
    missing = dataclasses.replace(asked, status="NOT_FOUND", responses=())

    assert failed(case, dataclasses.replace(exchanges[case.id], calls=(first, missing, *others))) == {"job-is-found"}


def test_a_result_that_many_queries_outlive_is_judged_by_one_clause(exchanges: dict[str, Exchange]) -> None:
    """No document says how many results a server keeps."""
    case = CASES["query-results.many-queries"]
    *others, page, whole = exchanges[case.id].calls
    refused = [dataclasses.replace(read, status="NOT_FOUND", responses=()) for read in (page, whole)]
    exchange = dataclasses.replace(exchanges[case.id], calls=(*others, *refused))

    assert failed(case, exchange) == {"result-outlives-other-queries"}


@pytest.mark.parametrize(
    ("listing", "stream", "clauses"),
    [
        pytest.param({"jobComplete": True, "rows": []}, "", {"failing-row-is-an-error"}, id="a result"),
        pytest.param({"jobComplete": True, "errors": [{}]}, "", set(), id="errors"),
        pytest.param({"jobComplete": True, "errors": [{}]}, "OK", {"failing-row-is-an-error"}, id="errors, and rows"),
        pytest.param(None, "INVALID_ARGUMENT", set(), id="an error"),
        pytest.param(None, "OK", {"failing-row-is-an-error"}, id="an error, and rows"),
        pytest.param({"jobComplete": False}, "OK", set(), id="it runs still"),
    ],
)
def test_an_error_behind_the_answer(
    exchanges: dict[str, Exchange], listing: dict[str, Any] | None, stream: str, clauses: set[str]
) -> None:
    """A query that was said to run fails: its job says so, and so does its stream."""
    case = CASES["query-results.late-error"]
    plain, shown = exchanges["query-results.plain"].calls, exchanges["query-results.listing"].calls[1]
    body = json.dumps({"jobComplete": False, "jobReference": JOB}).encode()
    calls = [dataclasses.replace(exchanges[case.id].calls[0], status="OK", responses=(body,))]
    for step in (1, 2):
        said = {"status": "OK", "responses": (json.dumps(listing).encode(),)} if listing else {"status": "NOT_FOUND"}
        calls.append(dataclasses.replace(shown, step=step, **{"responses": (), **said}))
    if stream:
        calls.append(dataclasses.replace(plain[1], step=3, status=stream, responses=()))
    skipped = () if stream else (3,)
    calls.append(exchanges[case.id].calls[-1])

    assert failed(case, dataclasses.replace(exchanges[case.id], calls=tuple(calls), skipped_steps=skipped)) == clauses


@pytest.mark.parametrize(
    ("status", "clauses"),
    [
        ({"state": "DONE"}, {"failed-job-has-the-error"}),
        ({"state": "DONE", "errorResult": "row 0"}, {"failed-job-has-the-error"}),
        ({"state": "DONE", "errorResult": {}}, set()),
    ],
)
def test_a_failed_job_that_is_done_has_an_error(
    exchanges: dict[str, Exchange], status: dict[str, Any], clauses: set[str]
) -> None:
    """In ``errorResult``; which fields it has is open."""
    name = "query-results.late-error"
    *before, job = exchanges[name].calls
    answer = json.loads(job.responses[0]) | {"status": status}
    changed = dataclasses.replace(job, responses=(json.dumps(answer).encode(),))

    assert failed(CASES[name], dataclasses.replace(exchanges[name], calls=(*before, changed))) == clauses


OWN_OPTIONS = [
    ("read-has-the-form-of-its-query", "options-of-the-read", {"read-has-its-form"}),
    ("read-has-the-codec-of-its-query", "options-of-the-read", {"stream-has-the-codec", "stream-has-no-other-codec"}),
    ("read-has-the-codec-of-its-query", "inserted-job-options", {"stream-has-the-codec"}),
]


@pytest.mark.parametrize(("mutant", "name", "clauses"), OWN_OPTIONS)
def test_the_options_of_a_read_are_its_own(mutant: str, name: str, clauses: set[str]) -> None:
    """Also those of the stream of a query that jobs.insert ran, which had none."""
    case = CASES[f"query-results.{name}"]
    with closing(storage_target(f"query-results.{mutant}")) as target:
        exchange = target.drive(case, materialise(case.table))

    assert failed(case, exchange) == clauses


def test_a_datetime_has_no_form(exchanges: dict[str, Exchange]) -> None:
    """The form that a query names is that of TIMESTAMP alone; in nanoseconds, a DATETIME has another type."""
    case = CASES["query-results.times"]
    with closing(storage_target("query-results.local-times-in-the-form")) as target:
        exchange = target.drive(case, materialise(case.table))

    assert exchange != exchanges[case.id]
    assert "page-has-the-columns" in failed(case, exchange)
