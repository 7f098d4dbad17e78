"""What belongs together as one cause, what stays apart, and what to fix first."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.causes import causes
from conformance.engine.events import CaseShape, Request
from conformance.records import Level, Outcome, Verdict
from tests.engine.causing import LZ4, REFUSED, fails, filtered, found, names, refusal, result_of, served, with_requests
from tests.engine.samples import judged, passing


@pytest.fixture(autouse=True, scope="module")
def _chapters() -> None:
    load_chapters()


class TestRefusals:
    """Refused calls are one cause for each missing feature, or for each status and text."""

    @pytest.mark.parametrize(
        ("filters", "shown"),
        [
            (["number > 10", "a = 1", "a = 1"], ["2 different filters refused; the shortest: a = 1"]),
            (["a = 1", "a = 1"], ["the refused filter: a = 1"]),
            ([""], []),
        ],
    )
    def test_a_refused_filter_is_shown(self, filters: list[str], shown: list[str]) -> None:
        """The shortest of them, and how many there are; none if the requests have none."""
        cause, *_ = found(*(filtered(f"a{place}", one) for place, one in enumerate(filters)))

        assert list(cause.contrast[1:-1]) == shown  # between the counts and the hint

    def test_a_missing_feature_is_named_if_only_refused_requests_ask_for_it(self) -> None:
        """Two clauses fail on it, and it is one cause."""
        one = refusal("a", "max_stream_count", LZ4, clause="compression.request-is-served")
        other = refusal("b", "selected_fields", LZ4, clause="projection.known-columns-are-served")
        plain = served(judged("c", passing("c", "rows.read-is-served")), "max_stream_count", "selected_fields")

        (cause,) = found(one, other, plain)

        assert cause.title == f"CreateReadSession with {LZ4} is refused: {REFUSED}"
        assert names([cause]) == [["compression.request-is-served", "projection.known-columns-are-served"]]
        assert cause.contrast[0] == "2 requests refused, every one with it; 1 without it served"

    def test_two_missing_features_with_one_text_stay_two(self) -> None:
        """A server may say the same of everything that it lacks."""
        cases = [refusal("a", LZ4), refusal("b", LZ4), refusal("c", "snapshot_time")]

        assert [cause.cases for cause in found(*cases, served(judged("d")))] == [("a", "b"), ("c",)]

    def test_two_features_that_are_never_apart_are_both_named(self) -> None:
        """Nothing in the run says which of them it is."""
        (cause,) = found(refusal("a", LZ4, "row_restriction"), served(judged("b")))

        assert cause.title.startswith(f"CreateReadSession with {LZ4} and row_restriction is refused")

    def test_no_feature_is_blamed_that_was_served_elsewhere(self) -> None:
        """The status and the text remain."""
        (cause,) = found(refusal("a", LZ4), served(judged("b"), LZ4))

        assert cause.title == f"CreateReadSession is refused: {REFUSED}"

    def test_refusals_of_another_text_are_another_cause(self) -> None:
        """Quoted names and numbers do not count as another text."""
        cases = [
            refusal("a", said="INTERNAL: no table 'x'"),
            refusal("b", said="INTERNAL: no table 'y'"),
            refusal("c", said="INTERNAL: out of memory"),
            served(judged("d")),
        ]

        assert [cause.cases for cause in found(*cases)] == [("a", "b"), ("c",)]

    @pytest.mark.parametrize("wrapped", ["Exception calling application", "Exception iterating responses"])
    def test_what_grpc_writes_before_an_exception_makes_no_texts_alike(self, wrapped: str) -> None:
        """Servers in Python let exceptions through that have nothing in common but these words."""
        cases = [
            refusal("a", said=f"UNKNOWN: {wrapped}: list index out of range"),
            refusal("b", said=f"UNKNOWN: {wrapped}: Decimal type with precision 77 does not fit"),
            served(judged("d")),
        ]

        assert [cause.cases for cause in found(*cases)] == [("a",), ("b",)]

    def test_a_long_text_is_not_like_a_short_one_of_the_same_beginning(self) -> None:
        """What differs may be no longer than what both share, in each of them."""
        cases = [
            refusal("a", said="INTERNAL: cannot read orders"),
            refusal("b", said="INTERNAL: cannot read from a disk that has been full since this morning"),
            served(judged("d")),
        ]

        assert [cause.cases for cause in found(*cases)] == [("a",), ("b",)]

    def test_the_clause_of_most_cases_names_the_refusals(self) -> None:
        """Plain requests are refused, and one of them asks for compression."""
        cases = [
            refusal("a", clause="compression.request-is-served"),
            *(refusal(name, clause="session.plain-request-is-served") for name in "bc"),
            served(judged("d")),
        ]

        assert [cause.clause for cause in found(*cases)] == ["session.plain-request-is-served"]

    def test_of_refused_literals_the_clause_on_them_leads(self) -> None:
        """That a filter comes with other columns, or that its operator is IN, says less."""
        clauses = ("projection.filter-may-use-other-columns", "restriction.in-list", "restriction.temporal-literal")
        cases = [refusal(f"{one} {number}", clause=one) for one in clauses for number in range(2)]
        cases.append(refusal("once more", clause=clauses[0]))

        assert [cause.clause for cause in found(*cases, served(judged("d")))] == ["restriction.temporal-literal"]

    def test_one_wrong_status_is_one_cause_whether_or_not_a_step_permits_it(self) -> None:
        """The step of one case permits the status, and the recommended one is another."""
        clause = "offsets.beyond-the-end-has-its-code"
        cases = [
            with_requests(
                judged("a", fails("a", clause, "offset: OUT_OF_RANGE")),
                Request(0, "ReadRows", refused="OUT_OF_RANGE: 5", owed=False),
            ),
            judged("b", fails("b", clause, "offset: OUT_OF_RANGE")),
        ]

        assert [cause.cases for cause in found(*cases)] == [("a", "b")]

    @pytest.mark.parametrize(
        "name", ["p:conformance.t_rows_{}_dd9bb304_1", "projects/p/locations/us/sessions/{}/streams/AF", "`t_{}`"]
    )
    def test_the_names_of_tables_sessions_and_streams_do_not_count_as_another_text(self, name: str) -> None:
        """Each case has its own."""
        cases = [refusal(case, said=f"INTERNAL: cannot read {name.format(case)} today") for case in "ab"]

        assert [cause.cases for cause in found(*cases, served(judged("d")))] == [("a", "b")]

    def test_refusals_without_a_text_are_one_cause_whatever_their_status(self) -> None:
        """What the text would have to name follows from it."""
        clause = "errors.message-says-something"
        cases = [
            judged("a", fails("a", clause, "no message with the status 'NOT_FOUND'")),
            judged(
                "b",
                fails("b", clause, "no message with the status 'INVALID_ARGUMENT'"),
                fails("b", "errors.unknown-column-is-named", "''"),
            ),
        ]

        (cause,) = found(*cases)

        assert (cause.clause, [echo.clause for echo in cause.echoes]) == (clause, ["errors.unknown-column-is-named"])

    def test_the_wrong_status_of_refusals_is_one_cause(self) -> None:
        """The texts are right, and differ; the status is what is wrong with all of them."""
        clause, code = "errors.permanent-one-is-not-unknown", "errors.missing-table-has-its-code"
        cases = [
            with_requests(
                judged(name, fails(name, clause, f"UNKNOWN: {text}"), *more),
                Request(0, "CreateReadSession", refused=f"UNKNOWN: {text}", owed=False),
            )
            for name, text, more in (
                ("a", "no such table", [fails("a", code, "UNKNOWN: no such table")]),
                ("b", "bad filter", []),
            )
        ]

        (cause,) = found(*cases)

        assert cause.clause == clause
        assert [echo.clause for echo in cause.echoes] == [code]


@pytest.mark.parametrize("observed", ["polars loses rows", "loses rows"])
def test_a_title_names_the_reader_once(observed: str) -> None:
    """Some observations begin with the reader's name, which is the place of the finding, too."""
    (cause,) = found(judged("a", fails("a", "readers.agree", observed, field="polars", required="the rows")))

    assert cause.title == f"polars{'' if observed.startswith('polars') else ':'} loses rows; required: the rows"


@pytest.mark.parametrize(
    ("observed", "shown"),
    [
        (r"a panic: nil pointer\n\ngoroutine 362 [running]:\n\tserver.go:975", "a panic: nil pointer…"),
        (r"'two\nlines' and not 'one\nline'", r"'two\nlines' and not 'one\nline'"),
    ],
)
def test_a_title_has_the_first_line_of_what_a_program_says(observed: str, shown: str) -> None:
    """Behind it is a trace, which the finding shows in full; a line end in a value is part of the value."""
    (cause,) = found(judged("a", fails("a", "readers.agree", observed, field="", required="the rows")))

    assert cause.title == f"{shown}; required: the rows"
    assert cause.own[0].text == observed


class TestEchoes:
    """What follows from another finding belongs to its cause."""

    def test_a_reader_follows_from_the_bytes_of_its_session(self) -> None:
        """Four readers lose rows; the marker behind the schema is the cause."""
        readers = [fails("a", "readers.find-the-values", f"{name} loses rows") for name in ("arro3", "polars")]
        findings = tuple(verdict.findings[0] for verdict in readers)
        verdicts = [
            fails("a", "framing.schema-without-end-of-stream"),
            Verdict("a", "readers.find-the-values", Outcome.FAIL, findings),
        ]

        (cause,) = found(judged("a", *verdicts))

        assert cause.clause == "framing.schema-without-end-of-stream"
        assert {echo.clause for echo in cause.echoes} == {"readers.find-the-values"}

    def test_a_reader_does_not_follow_from_another_session(self) -> None:
        """The bytes that it read are right."""
        verdicts = [fails("a", "framing.batch-not-empty", call=1), fails("a", "readers.read-without-error", call=2)]
        requests = [
            Request(0, "CreateReadSession"),
            Request(1, "ReadRows", session=0),
            Request(2, "CreateReadSession"),
        ]

        assert len(found(with_requests(judged("a", *verdicts), *requests))) == 2

    def test_a_reader_does_not_follow_from_a_should(self) -> None:
        """Dirty padding makes no reader fail."""
        assert len(found(judged("a", fails("a", "body.padding-zero"), fails("a", "readers.read-without-error")))) == 2

    def test_a_defect_in_every_case_does_not_swallow_another(self) -> None:
        """They share every case and every message, and none follows from the other."""
        cases = [
            judged(name, fails(name, "framing.schema-without-end-of-stream"), fails(name, "schema.order"))
            for name in "abc"
        ]

        assert [cause.clause for cause in found(*cases)] == ["framing.schema-without-end-of-stream", "schema.order"]

    def test_a_deviation_is_divided_if_only_some_of_it_follows(self) -> None:
        """In the case without a fault in the bytes the reader's failure is a cause of its own."""
        reader = "readers.read-without-error"
        cases = [
            judged("a", fails("a", "framing.batch-prefix"), fails("a", reader)),
            judged("b", fails("b", reader)),
        ]

        bytes_, alone = found(*cases)

        assert (bytes_.clause, [echo.cases for echo in bytes_.echoes]) == ("framing.batch-prefix", [("a",)])
        assert (alone.clause, alone.own[0].cases, alone.own[0].replay) == (reader, ("b",), "b")

    def test_lost_rows_explain_the_rows_that_a_restriction_misses(self) -> None:
        """If plain reads lose rows, a restricted one shows nothing of its own."""
        text = "1 missing, such as {'a': 1}"
        cases = [
            judged("a", fails("a", "rows.none-is-missing", text)),
            judged("b", fails("b", "restriction.not", text)),
        ]

        (cause,) = found(*cases)

        assert (cause.clause, [echo.clause for echo in cause.echoes]) == ("rows.none-is-missing", ["restriction.not"])

    def test_rows_lost_in_few_reads_explain_nothing_elsewhere(self) -> None:
        """The restriction may well be wrong itself."""
        text = "1 missing, such as {'a': 1}"
        right = [judged(name, passing(name, "rows.none-is-missing")) for name in "cdef"]
        cases = [
            judged("a", fails("a", "rows.none-is-missing", text)),
            judged("b", fails("b", "restriction.not", text)),
        ]

        assert len(found(*cases, *right)) == 2


class TestOrder:
    """What to fix first."""

    def test_the_cause_that_blocks_most_comes_first_within_its_level(self) -> None:
        """A MUST in one case comes before a MUST in many, if it blocks more; a SHOULD comes after both."""
        many = [judged(name, fails(name, "schema.order")) for name in "abc"]
        must = dataclasses.replace(judged("d", fails("d", "body.buffer-count")), blocked=("types.bool",))
        should = dataclasses.replace(
            judged("e", fails("e", "buffers.expansion")), blocked=("values.bool", "values.string", "values.nulls")
        )

        assert [(cause.clause, len(cause.blocks)) for cause in found(*many, must, should)] == [
            ("body.buffer-count", 1),
            ("schema.order", 0),
            ("buffers.expansion", 3),
        ]

    def test_a_clause_on_two_options_comes_behind_those_on_one(self) -> None:
        """Wrong filters fail without a projection too, in fewer cases; that says more plainly what is wrong."""
        both = [judged(name, fails(name, "projection.filter-may-use-other-columns")) for name in "abc"]
        alone = judged("d", fails("d", "restriction.between"))

        right = [judged(name, passing(name, "restriction.between")) for name in "efghijkl"]

        clauses = [cause.clause for cause in found(*both, alone, *right)]

        assert clauses == ["restriction.between", "projection.filter-may-use-other-columns"]

    def test_then_a_must_comes_before_a_should_and_many_cases_before_few(self) -> None:
        """The cases count only within one level."""
        cases = [
            *(judged(name, fails(name, "body.padding-zero")) for name in "abc"),
            judged("d", fails("d", "schema.order")),
            *(judged(name, fails(name, "schema.names")) for name in "ef"),
        ]

        assert [cause.clause for cause in found(*cases)] == ["schema.names", "schema.order", "body.padding-zero"]

    @pytest.mark.parametrize(("drawn", "first"), [("abc", "split.child-resumes"), ("abcde", "history.no-repeated-row")])
    def test_a_drawn_history_counts_half(self, drawn: str, first: str) -> None:
        """It judges again what a plainer clause judges alone, in more cases and in more words."""
        cases = [judged(name, fails(name, "history.no-repeated-row")) for name in drawn]
        plain = [judged(name, fails(name, "split.child-resumes")) for name in "xy"]

        assert found(*cases, *plain)[0].clause == first

    def test_a_should_comes_by_the_gravest_that_follows_from_it(self) -> None:
        """Its repair mends the MUST: the bytes that a reader refuses lead, not the reader."""
        reader = fails("a", "readers.read-without-error", "Lz4 compressed input contains more than one frame")
        padded = judged("a", fails("a", "buffers.frame-length"), reader)
        others = (judged(name, fails(name, "body.padding-zero")) for name in "bc")

        first, second = found(*others, padded)

        assert (first.clause, first.echoes[0].clause) == ("buffers.frame-length", "readers.read-without-error")
        assert (first.level, first.by_echo) == (Level.MUST, True)
        assert (second.clause, second.level, second.by_echo) == ("body.padding-zero", Level.SHOULD, False)

    def test_a_fault_in_many_cases_comes_before_one_that_blocks_a_clause(self) -> None:
        """A blocked clause counts as ten cases: otherwise a rare refusal would lead the list of a broken server."""
        many = [judged(f"many-{number}", fails(f"many-{number}", "schema.order")) for number in range(10)]
        rare = dataclasses.replace(judged("d", fails("d", "body.buffer-count")), blocked=("types.bool",))

        assert [cause.clause for cause in found(*many, rare)] == ["body.buffer-count", "schema.order"]
        assert [
            cause.clause for cause in found(*many, *(judged(name, fails(name, "schema.order")) for name in "xy"), rare)
        ] == [
            "schema.order",
            "body.buffer-count",
        ]

    def test_the_cases_of_echoes_count(self) -> None:
        """They fail because of the cause, too."""
        offset = Request(1, "ReadRows", ("an offset",))
        cases = [
            *(judged(name, fails(name, "schema.order")) for name in "ab"),
            judged("c", fails("c", "offsets.last-row")),
            *(with_requests(judged(name, fails(name, "history.no-repeated-row")), offset) for name in "de"),
        ]

        assert [cause.cases for cause in found(*cases)] == [("c",), ("a", "b")]

    def test_the_smallest_case_is_shown(self) -> None:
        """The fewest rows, then columns, then steps."""
        sizes = {"a": (9, 1, 1), "b": (1, 3, 1), "c": (1, 2, 9)}
        cases = [
            dataclasses.replace(judged(name, fails(name, "schema.order")), shape=CaseShape(*size))
            for name, size in sizes.items()
        ]

        assert found(*cases)[0].smallest == "c"

    def test_the_case_that_is_shown_has_the_finding_that_is_shown(self) -> None:
        """A smaller case may be refused only beside it: there, the request has to be refused, in another status."""
        wrong_code = refusal("small", clause="errors.unrecorded-refusal-has-a-fitting-code")
        verdict = fails("small", "errors.unrecorded-refusal-has-a-fitting-code", REFUSED, required="INVALID_ARGUMENT")
        served = refusal("large", clause="sample.request-is-served")
        cases = [
            dataclasses.replace(wrong_code, verdicts=(verdict,), shape=CaseShape(1, 1, 1)),
            dataclasses.replace(served, shape=CaseShape(9, 1, 1)),
        ]

        (cause,) = found(*cases)

        assert (cause.clause, cause.smallest, cause.cases) == ("sample.request-is-served", "large", ("small", "large"))

    def test_the_call_is_that_of_the_case_that_is_shown(self) -> None:
        """The other cases show the same in other calls."""
        sizes = {"a": 9, "b": 1}
        cases = [
            dataclasses.replace(judged(name, fails(name, "schema.order", call=rows)), shape=CaseShape(rows, 1, 1))
            for name, rows in sizes.items()
        ]

        (cause,) = found(*cases)

        assert (cause.smallest, cause.call) == ("b", 1)

    def test_the_words_are_those_of_the_case_that_is_shown(self) -> None:
        """Title, finding and command: whoever replays the case sees what the screen said of it."""
        cases = [
            dataclasses.replace(
                judged(name, fails(name, "offsets.inside-a-response", f"{rows} rows that are others", call=rows)),
                shape=CaseShape(rows, 1, 1),
                replay=f"{name}.json",
            )
            for name, rows in {"large": 900, "small": 4, "middle": 30}.items()
        ]

        (cause,) = found(*cases)

        assert (cause.smallest, cause.replay) == ("small", "small.json")
        assert cause.title.startswith("4 rows that are others")
        assert (cause.own[0].text, cause.own[0].cases) == ("4 rows that are others", ("small", "large", "middle"))


def test_the_key_is_the_same_in_a_smaller_run() -> None:
    """It depends on the clause and the class of the failure, and neither on cases nor on other causes."""
    cases = [
        judged("a", fails("a", "schema.order")),
        judged("b", fails("b", "schema.names"), fails("b", "schema.order")),
    ]

    every, alone = found(*cases), found(cases[0])

    assert alone[0].key in {cause.key for cause in every}
    assert alone[0].key.partition("~")[0] == "schema.order"


def test_fields_without_the_metadata_of_their_type_are_one_cause() -> None:
    """Metadata that is wrong otherwise is a cause of its own."""
    none = [judged(name, fails(name, f"schema.metadata-{name}", "no metadata")) for name in ("json", "range")]
    other = judged("other", fails("other", "schema.metadata-geography", "metadata {'encoding': 'WKB'}"))
    plain = [judged(name, passing(name, "schema.metadata-plain")) for name in "pqrst"]

    several, one = found(*none, other, *plain)

    assert names([several, one]) == [["schema.metadata-json", "schema.metadata-range"], ["schema.metadata-geography"]]
    assert several.title.endswith("; also schema.metadata-range")
    assert "also" not in one.title


def test_every_failed_deviation_belongs_to_a_cause() -> None:
    """None is lost, whatever its outcome; an error of the suite is none."""
    verdicts = [
        fails("a", "schema.order"),
        Verdict("b", "case", Outcome.CRASH, reason="call 0, ReadRows: the target died: signal 11"),
        Verdict("c", "rows.read-is-served", Outcome.REFUSED, reason="call 0, ReadRows: ended in INTERNAL: no"),
        Verdict("d", "case", Outcome.ERROR, reason="KeyError: 1"),
    ]
    result = result_of(*(judged(verdict.case_id, verdict) for verdict in verdicts))

    owned = {part.reason for cause in causes(result) for part in (*cause.own, *cause.echoes)}

    assert owned == {item.reason for item in result.failed if item.outcome is not Outcome.ERROR}


def test_an_expected_failure_is_no_cause() -> None:
    """There is nothing to fix that is not known."""
    assert found(judged("a", passing("a", "schema.order"))) == ()


@pytest.mark.parametrize(
    ("said", "clause", "named"),
    [
        ("UNIMPLEMENTED: no such method", "flight-exchange.nothing-is-lost", 'not_offered = ["exchange"]'),
        ("UNIMPLEMENTED: no such method", "flight-errors.has-its-code", ""),
        ("INTERNAL: no such method", "flight-exchange.nothing-is-lost", ""),
    ],
)
def test_the_clause_leads_to_what_is_not_offered_where_no_option_does(said: str, clause: str, named: str) -> None:
    """A method of Flight belongs to one profile or to several, and the clause tells which."""
    (cause,) = found(refusal("a", said=said, clause=clause))

    assert [one.rpartition(" says ")[2] for one in cause.contrast if "not_offered" in one] == ([named] if named else [])


@pytest.mark.parametrize(
    ("asked", "said", "named"),
    [
        (LZ4, REFUSED, 'not_offered = ["buffer-compression"]'),
        ("row_restriction", "UNIMPLEMENTED: no filters", 'not_offered = ["filters"]'),
        ("columns of type INTERVAL", "UNIMPLEMENTED: no such type", 'not_offered = ["INTERVAL"]'),
        ("row_restriction", "INTERNAL: no filters", ""),
        ("trace_id", "UNIMPLEMENTED: no traces", ""),
    ],
)
def test_unimplemented_leads_to_what_is_not_offered(asked: str, said: str, named: str) -> None:
    """The cause says how the target file leaves out the part of the service, if there is one."""
    (cause,) = found(refusal("a", asked, said=said))

    assert [sentence for sentence in cause.contrast if "not_offered" in sentence] == (
        [f"if the server does not offer this, the target file says {named}"] if named else []
    )


def test_a_bad_request_that_is_served_comes_after_wrong_data() -> None:
    """It hurts clients with a defect of their own, however many cases show it."""
    lets = "a status other than OK for an offset beyond the end"
    cases = [
        *(judged(name, fails(name, "offsets.beyond-the-end-is-refused", "OK", required=lets)) for name in "abc"),
        judged("d", fails("d", "values.date")),
        judged("e", fails("e", "offsets.negative-is-refused", "OK", required=lets)),
        judged("f", fails("f", "compression.zstd-is-applied")),
    ]

    assert [cause.clause for cause in found(*cases)] == [
        "values.date",
        "offsets.beyond-the-end-is-refused",
        "compression.zstd-is-applied",
        "offsets.negative-is-refused",
    ]


def test_the_cases_of_echoes_count() -> None:
    """What follows from a cause is gone when it is repaired."""
    cases = [
        judged("a", fails("a", "session.restriction-is-not-ignored", "1 other row")),
        *(judged(name, fails(name, "restriction.comparison", "1 other row")) for name in "bc"),
    ]

    (cause,) = found(*cases)
    assert (cause.cases, cause.failing) == (("a",), {"a", "b", "c"})


def test_a_format_that_was_not_asked_for_is_one_cause() -> None:
    """Arrow comes where AVRO was asked for: in the schema, in the echo, in the rows, and so nobody counts Avro rows."""
    requests = Request(0, "CreateReadSession", ()), Request(1, "ReadRows", (), session=0)
    verdicts = [
        fails("a", "session.data-format-is-echoed", "data_format 2"),
        fails("a", "session.schema-is-of-the-format", "arrow_schema"),
        fails("a", "rows.payload-is-of-the-format", "arrow_record_batch", call=1),
        fails("a", "avro.offset-leaves-the-rest", "70 rows", call=1),
    ]

    (cause,) = found(with_requests(judged("a", *verdicts), *requests))
    assert (cause.clause, len(cause.echoes)) == ("session.schema-is-of-the-format", 3)


def test_rows_of_columns_that_do_not_come_are_an_echo_in_their_session_alone() -> None:
    """Rows that are missing from another session have a reason of their own."""
    requests = [Request(at, "CreateReadSession", ()) for at in (0, 1)]
    verdicts = [
        fails("a", "projection.all-the-selected", "the columns ['place'] missing"),
        fails("a", "rows.none-is-missing", "4 of 4 rows missing"),
    ]
    other = fails("b", "rows.none-is-missing", "1 of 4 rows missing", call=1)

    assert names(found(with_requests(judged("a", *verdicts), *requests))) == [["projection.all-the-selected"]]
    both = found(with_requests(judged("a", *verdicts), *requests), with_requests(judged("b", other), *requests))
    assert {cause.clause for cause in both} == {"projection.all-the-selected", "rows.none-is-missing"}


def test_the_title_of_a_refusal_has_the_text_of_the_case_it_names() -> None:
    """Two texts of one class are one cause; its title and its first deviation have to say the same."""
    large, small = (
        refusal(name, said=f"UNKNOWN: no '{what}'", clause="session.plain-request-is-served")
        for name, what in (("a", "GEOGRAPHY"), ("b", "JSON"))
    )
    small = dataclasses.replace(small, shape=CaseShape(1, 1, 1, ()))

    (cause,) = found(large, small)
    assert cause.smallest == "b"
    assert cause.title.endswith(cause.own[0].text)
    assert "JSON" in cause.title
