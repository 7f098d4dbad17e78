"""What a fault that shows nearly everywhere explains, and what it leaves alone."""

from __future__ import annotations

import dataclasses
import fnmatch

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.engine import blocking, widespread
from conformance.engine.events import CaseJudged, Request
from conformance.records import Outcome
from tests.engine.causing import fails, found, refusal, served, with_requests
from tests.engine.samples import judged, passing

load_chapters()

ROWS = [globs for row in widespread._TABLE for globs in (row.causes, row.effects)]
BLOCKS = [globs for row in blocking._TABLE for globs in row]


@pytest.mark.parametrize("globs", [*ROWS, *BLOCKS, blocking.HARMLESS], ids=str)
def test_each_name_in_the_tables_is_that_of_a_clause(globs: tuple[str, ...]) -> None:
    """A glob that matches nothing would hide that a clause is called otherwise."""
    assert [glob for glob in globs if not fnmatch.filter(CLAUSES, glob)] == []


IGNORED = "all 8 rows: the offset was ignored"
MISSING = "1 of them missing, such as {'row_id': 9}"


def test_an_offset_that_is_always_ignored_is_one_cause() -> None:
    """The plainest sentence leads, and the end of the stream and a drawn history follow."""
    offset = Request(1, "ReadRows", ("an offset",))
    cases = [
        judged("a", fails("a", "offsets.end-yields-nothing", "2 responses of 8 rows")),
        judged("b", fails("b", "offsets.inside-a-response", IGNORED)),
        with_requests(judged("c", fails("c", "history.no-repeated-row", "row 3 comes again")), offset),
    ]

    (cause,) = found(*cases)

    assert cause.clause == "offsets.inside-a-response"
    assert [echo.clause for echo in cause.echoes] == ["offsets.end-yields-nothing", "history.no-repeated-row"]


def test_rows_that_are_wrong_after_an_offset_are_one_cause_of_each_place() -> None:
    """Some reads begin at the first row, and others at one before."""
    cases = [
        judged("a", fails("a", "offsets.last-row", IGNORED)),
        judged("b", fails("b", "offsets.last-row", "2 rows that are others")),
    ]

    assert [cause.cases for cause in found(*cases)] == [("a", "b")]


def test_a_drawn_history_without_an_offset_does_not_follow() -> None:
    """What is unrelated is never an echo."""
    cases = [
        judged("a", fails("a", "offsets.inside-a-response", IGNORED)),
        served(judged("b", fails("b", "history.no-repeated-row", "row 3 comes again"))),
    ]

    assert len(found(*cases)) == 2


def test_an_offset_that_is_honoured_elsewhere_explains_nothing() -> None:
    """A defect at the end of streams stays one of its own."""
    cases = [
        judged("a", fails("a", "offsets.end-yields-nothing", "2 responses of 8 rows")),
        judged("b", fails("b", "offsets.last-row", IGNORED)),
        *(judged(name, passing(name, "offsets.inside-a-response")) for name in "cd"),
    ]

    assert len(found(*cases)) == 2


BOTH = Request(1, "ReadRows", ("row_restriction", "an offset"))
CHILD = Request(2, "ReadRows", ("the child of a split stream",))


def restricted(name: str, clause: str, text: str) -> CaseJudged:
    """A case that fails, with a read from an offset under a restriction."""
    return with_requests(judged(name, fails(name, clause, text)), BOTH)


def test_offsets_that_are_wrong_only_under_a_restriction_are_one_cause() -> None:
    """The drawn history has such a read too, and half of the cases that could show the fault do."""
    cases = [
        restricted("a", "offsets.end-yields-nothing", "1 response of 3 rows"),
        restricted("b", "offsets.last-row", IGNORED),
        restricted("c", "history.no-repeated-row", "row 3 comes again"),
        restricted("i", "combination.permitted-request-is-served", "OUT_OF_RANGE: beyond the end"),
        *(with_requests(judged(name, passing(name, "offsets.last-row")), BOTH) for name in "de"),
        *(judged(name, passing(name, "offsets.last-row")) for name in "fgh"),
    ]

    (cause,) = found(*cases)

    assert cause.clause == "offsets.last-row"
    assert [echo.clause for echo in cause.echoes] == [
        "offsets.end-yields-nothing",
        "history.no-repeated-row",
        "combination.permitted-request-is-served",
    ]


def right(names: str, *requests: Request) -> list[CaseJudged]:
    """Cases in which the last row is right."""
    return [with_requests(judged(name, passing(name, "offsets.last-row")), *requests) for name in names]


WRONG = [
    restricted("a", "offsets.end-yields-nothing", "1 response of 3 rows"),
    restricted("b", "offsets.last-row", IGNORED),
]
APART = with_requests(
    judged("b", fails("b", "offsets.last-row", IGNORED)),
    Request(1, "ReadRows", ("row_restriction",)),
    Request(2, "ReadRows", ("an offset",)),
)


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param([*WRONG, *right("de", BOTH)], id="no case shows that other offsets are right"),
        pytest.param([*WRONG, *right("defgh", BOTH), *right("xyz")], id="most of the cases with both are right"),
        pytest.param([WRONG[0], APART, *right("de", BOTH), *right("xyz")], id="no request of a case has both"),
        pytest.param(
            [*WRONG, judged("c", fails("c", "offsets.last-row", IGNORED)), *right("de", BOTH), *right("xyz")],
            id="one is wrong without a restriction",
        ),
        pytest.param(
            [*WRONG, judged("c", fails("c", "history.no-repeated-row")), *right("de", BOTH), *right("xyz")],
            id="a history without a restriction is wrong",
        ),
    ],
)
def test_features_that_meet_explain_nothing_unless_the_fault_is_there_alone(cases: list[CaseJudged]) -> None:
    """Then the places of offsets stay causes of their own, and so does what is found elsewhere."""
    assert len(found(*cases)) == 2


def test_a_child_that_never_resumes_does_not_in_drawn_histories() -> None:
    """A history without a child does not follow. Offsets into other streams are right."""
    wrong = judged("b", fails("b", "history.no-repeated-row", "row 3 comes again"))
    child = judged("a", fails("a", "split.child-resumes", "8 rows that are others"))

    assert [cause.clause for cause in found(child, with_requests(wrong, CHILD), *right("xyz"))] == [
        "split.child-resumes"
    ]
    assert len(found(child, served(wrong), *right("xyz"))) == 2


def test_several_readers_with_one_error_are_one_cause() -> None:
    """The answer has to change, and not eight readers."""
    error = "ends in InvalidTable: cannot view array"
    cases = [
        judged(name, fails(name, "readers.read-without-error", f"{reader} {error}", field=reader))
        for name, reader in (("a", "arro3.stream"), ("b", "pyarrow.stream"))
    ]

    assert len(found(*cases)) == 1


def test_a_refusal_that_repeats_the_query_is_one_cause() -> None:
    """The query is in the lines behind the first, and a name without quotation marks within it."""
    said = "INTERNAL: Parser Error: syntax error at or near 'check'\\n\\nLINE 1: WHERE check = 1"
    other = "INTERNAL: Parser Error: syntax error at or near 'order'\\n\\nLINE 1: SELECT a FROM b WHERE order"
    names = [f"INVALID_ARGUMENT: these fields are not in the schema: {name}" for name in ("place.zip", "lines")]
    cases = [refusal(str(place), said=text) for place, text in enumerate((said, other, *names))]

    assert sorted(cause.cases for cause in found(*cases, served(judged("x")))) == [("0", "1"), ("2", "3")]


def test_the_values_of_another_row_are_no_other_fault() -> None:
    """A reader that takes a layout for another one gives other values of each type."""
    cases = [
        judged("a", fails("a", "reader.rows-true", 'column 0 "x", row 0: expected 0, got -1')),
        judged("b", fails("b", "reader.rows-true", 'column 0 "x", row 1: expected null, got {"decimal": "1"}')),
    ]

    assert len(found(*cases)) == 1


@pytest.mark.parametrize(
    ("said", "count"),
    [("r: struct<start: timestamp[us], end: timestamp[us]>", 1), ("r: struct<from: date32, to: date32>", 2)],
)
def test_a_zone_that_is_missing_everywhere_explains_ranges_without_it(said: str, count: int) -> None:
    """A RANGE that is wrong otherwise is a cause of its own."""
    cases = [
        judged("a", fails("a", "types.timestamp-utc", "t: no time zone")),
        judged("b", fails("b", "types.range", said)),
    ]

    assert len(found(*cases)) == count


def test_a_record_that_always_comes_whole_is_one_cause() -> None:
    """Whether one path into it is selected or several."""
    cases = [
        judged("a", fails("a", "projection.paths-into-one-record-merge", "place: the fields ['town', 'zip']")),
        judged("b", fails("b", "projection.nested-path-keeps-its-record", "place: the fields ['town', 'zip']")),
    ]

    (cause,) = found(*cases)

    assert cause.clause == "projection.nested-path-keeps-its-record"


def test_a_name_that_comes_twice_is_one_cause_whatever_is_selected() -> None:
    """In a whole session, in one that selects columns, and in one that names them in another case."""
    names = "the columns ['id', 'id']"
    cases = [
        judged("a", fails("a", "schema.columns-present", "number: the fields ['id', 'id']")),
        judged("b", fails("b", "projection.order-is-the-tables", names)),
        judged("c", fails("c", "projection.case-does-not-matter", names)),
    ]

    (cause,) = found(*cases)

    assert cause.clause == "schema.columns-present"


SPLIT = Request(2, "SplitReadStream", ("a split",))
OFFSET = Request(1, "ReadRows", ("an offset",))


def test_findings_of_one_clause_may_follow_from_several_widespread_faults() -> None:
    """Each history shows one of two faults, both of which show everywhere else."""
    cases = [
        judged("a", fails("a", "offsets.inside-a-response", IGNORED)),
        judged("b", fails("b", "split.children-are-the-parent", "4 and 5 rows")),
        *(with_requests(judged(name, fails(name, "combination.none-is-repeated")), one)
          for name, one in (("c", OFFSET), ("d", SPLIT), ("e", SPLIT))),
    ]  # fmt: skip

    assert {cause.clause: [echo.cases for echo in cause.echoes] for cause in found(*cases)} == {
        "offsets.inside-a-response": [],
        "split.children-are-the-parent": [("c", "d", "e")],
    }


def test_a_clause_of_which_one_finding_is_unexplained_stays_a_cause() -> None:
    """What is unrelated is never an echo."""
    cases = [
        judged("a", fails("a", "offsets.inside-a-response", IGNORED)),
        with_requests(judged("b", fails("b", "combination.none-is-repeated")), OFFSET),
        served(judged("c", fails("c", "combination.none-is-repeated"))),
    ]

    assert sorted(cause.cases for cause in found(*cases)) == [("a",), ("b", "c")]


def test_of_two_faults_that_explain_each_other_one_leads() -> None:
    """A split that is not honoured, in the case for servers that may ignore it and in all others."""
    cases = [
        judged("a", fails("a", "split.request-is-not-ignored", "4 and 5 rows")),
        judged("b", fails("b", "split.children-are-the-parent", "8 and 9 rows")),
    ]

    (cause,) = found(*cases)

    assert [cause.clause, *(echo.clause for echo in cause.echoes)] == [
        "split.request-is-not-ignored",
        "split.children-are-the-parent",
    ]


def test_null_that_counts_as_true_is_one_cause_whatever_the_form() -> None:
    """Other rows without a NULL have another reason."""
    cases = [
        judged("a", fails("a", "restriction.null-is-not-true", "2 rows for which it compares NULL")),
        judged("b", fails("b", "restriction.like", "1 other row for which it compares NULL, such as {'a': None}")),
        judged("c", fails("c", "restriction.between", "1 other row, such as {'a': 3}")),
        *(judged(name, passing(name, "restriction.comparison")) for name in "pqrst"),
    ]

    assert {cause.clause for cause in found(*cases)} == {"restriction.between", "restriction.null-is-not-true"}


@pytest.mark.parametrize(
    ("effect", "said", "count"),
    [
        ("restriction.is-null", "2 of them missing for which it compares NULL", 1),
        ("restriction.is-null", MISSING, 2),
        ("combination.rows-are-the-sessions", "11 other rows, such as {'word': ''}", 1),
        ("combination.none-is-missing", "1 row in no stream", 2),
    ],
)
def test_what_is_found_of_nulls_that_are_other_values_follows_from_these(effect: str, said: str, count: int) -> None:
    """A row that is missing without a NULL has another reason. Columns of most types are right."""
    cases = [
        judged("a", fails("a", "values.nulls", "'' in row 1")),
        judged("b", fails("b", effect, said)),
        *(judged(name, passing(name, "values.nulls")) for name in "cde"),
        judged("f", passing("f", effect)),
    ]

    assert len(found(*cases)) == count


def test_restrictions_that_are_ignored_are_a_cause_beside_nulls_that_are_other_values() -> None:
    """They are so where they compare NULL, too, and malformed ones are accepted: no value explains that."""
    other = "1 other row, such as {'a': 3}"
    cases = [
        *(judged(name, fails(name, "values.nulls", "0 in row 1")) for name in "ab"),
        judged("c", fails("c", "session.restriction-is-not-ignored", other)),
        *(judged(name, fails(name, "restriction.comparison", other)) for name in "de"),
        judged("f", fails("f", "restriction.null-is-not-true", "2 rows for which it compares NULL")),
        judged("g", fails("g", "restriction.malformed-is-refused", "OK")),
    ]

    assert [(cause.clause, len(cause.echoes)) for cause in found(*cases)] == [
        ("session.restriction-is-not-ignored", 3),
        ("values.nulls", 0),
    ]


def test_an_offset_beyond_the_end_that_is_accepted_is_so_for_children_and_in_histories() -> None:
    """One check is missing."""
    clauses = ("offsets.beyond-the-end-is-refused", "combination.beyond-the-end-is-refused",
               "split.beyond-the-child-is-refused")  # fmt: skip
    request = Request(1, "ReadRows", ("an offset",))

    (cause,) = found(*(with_requests(judged(name, fails(name, name, "OK")), request) for name in clauses))

    assert cause.clause == clauses[0]


OF_BOTH = ("session.rows-have-a-stream", "restriction.comparison")


def test_restricted_sessions_without_streams_follow_from_plain_ones() -> None:
    """One such session is enough, because the finding names the streams."""
    cases = [
        judged("a", fails("a", "session.rows-have-a-stream", "no streams")),
        judged("b", fails("b", "restriction.comparison", "no streams: 3 of them missing, such as {'a': 1}")),
        judged("c", fails("c", "restriction.like", "3 of them missing, such as {'a': 1}")),
        *(judged(name, passing(name, clause)) for name, clause in zip("pqrstu", OF_BOTH * 3, strict=True)),
    ]

    assert {cause.clause for cause in found(*cases)} == {"session.rows-have-a-stream", "restriction.like"}


def test_wrong_items_of_lists_are_one_cause_whatever_their_type_is() -> None:
    """A type that is wrong outside of lists has a fault of its own."""
    cases = [
        judged("a", fails("a", "values.int64", "3 in row 0, item 0")),
        judged("b", fails("b", "values.string", "'b' in row 2, item 1 (4 places differ)")),
        judged("c", fails("c", "values.date", "1970-01-02 in row 0")),
    ]

    assert {cause.clause for cause in found(*cases)} == {"values.int64", "values.date"}


@pytest.mark.parametrize(
    ("cause", "effect", "text"),
    [
        ("values.repeated", "offsets.inside-a-response", "10 rows that are others"),
        ("values.repeated", "restriction.between", "2 of them missing"),
        ("framing.batch-without-trailing-bytes", "body.buffers-inside", "bytes 48 to 112 of a body of 104 bytes"),
        ("body.null-count-range", "body.validity-present", "a null count of 9 and no validity bitmap"),
        ("avro-schema.decimals-are-declared", "avro-schema.types-are-the-columns", "bytes, which is binary"),
        ("compression.none-without-asking", "compression.codec-is-the-one-asked-for", "buffers compressed with LZ4"),
    ],
)
def test_a_fault_in_many_answers_explains_what_it_leads_to(cause: str, effect: str, text: str) -> None:
    """Each of them alone is a finding of its own."""
    first = judged("a", fails("a", cause, "wrong"))
    second = with_requests(judged("b", fails("b", effect, text)), has=["REPEATED columns"])

    assert [one.clause for one in found(first, second)] == [cause]
    assert [one.clause for one in found(second)] == [effect]


def test_wrong_lists_explain_no_missing_row_of_a_table_without_lists() -> None:
    """Such a row is missing for another reason."""
    lists = judged("a", fails("a", "values.repeated", "1 item in row 0"))
    clauses = {"b": "rows.none-is-missing", "c": "offsets.last-row", "d": "history.no-repeated-row"}
    cases = [with_requests(judged(name, fails(name, one, "2 rows missing"))) for name, one in clauses.items()]
    whole = judged("p", passing("p", "rows.none-is-missing"))

    assert {cause.clause for cause in found(lists, whole, *cases)} == {"values.repeated", *clauses.values()}


SEVERAL = Request(0, "CreateReadSession", ("max_stream_count", "max_stream_count above 1"))


def of_several(name: str, clause: str, text: str = MISSING) -> CaseJudged:
    """A case that fails, with a session of several streams."""
    return with_requests(judged(name, fails(name, clause, text)), SEVERAL)


def test_rows_that_are_in_none_of_several_streams_are_one_cause_whatever_the_session_asks_for() -> None:
    """One plain session shows it, and sessions of one stream are right."""
    cases = [
        of_several("a", "rows.none-is-missing", "1 of 9 rows missing"),
        of_several("b", "restriction.is-null"),
        of_several("c", "compression.rows-are-the-same", "1 row missing, such as {}"),
        of_several("d", "snapshot.earlier-rows-are-there", "1 inserted row missing"),
        of_several("e", "combination.none-is-missing", "1 row in no stream"),
        *(judged(name, passing(name, "rows.none-is-missing")) for name in "pq"),
        *(with_requests(judged(name, passing(name, "rows.none-is-missing")), SEVERAL) for name in "rstuvwx"),
    ]

    (cause,) = found(*cases)

    assert cause.clause == "rows.none-is-missing"
    assert len(cause.echoes) == 4


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(judged("b", fails("b", "restriction.is-null", MISSING)), id="in a session of one stream"),
        pytest.param(of_several("b", "restriction.is-null", "1 other row, such as {}"), id="too many rows"),
    ],
)
def test_other_rows_or_those_of_one_stream_are_not_explained_by_several_streams(other: CaseJudged) -> None:
    """They stay a cause of their own."""
    plain = of_several("a", "rows.none-is-missing", "1 of 9 rows missing")

    assert len(found(plain, other, judged("p", passing("p", "rows.none-is-missing")))) == 2


LATER = Request(1, "ReadRows", ("an offset", "a stream after the first"))


def test_offsets_that_are_wrong_only_in_later_streams_are_one_cause() -> None:
    """They count from the first row of the session, and so does the progress."""
    wrong = {"a": "offsets.last-row", "b": "split.child-resumes", "c": "rows.progress-is-a-fraction"}
    cases = [
        *(with_requests(judged(name, fails(name, one, "wrong")), LATER) for name, one in wrong.items()),
        *right("xyz", OFFSET),
    ]

    (cause,) = found(*cases)

    assert cause.clause == "offsets.last-row"


@pytest.mark.parametrize(("has", "count"), [(("rows appended while it is read",), 1), ((), 4)])
def test_a_stream_that_grows_has_another_end(has: tuple[str, ...], count: int) -> None:
    """An offset beyond the end that is served elsewhere is another fault."""
    grows = judged("a", fails("a", "snapshot.later-rows-stay-out", "1 row that came later"))
    others = ("offsets.beyond-the-end-is-refused", "offsets.inside-a-response", "split.parent-is-unchanged")
    asked = Request(0, "CreateReadSession", has)
    wrong = [with_requests(judged(name, fails(name, name, "wrong")), asked) for name in others]
    right = [judged(f"{name} elsewhere", passing(f"{name} elsewhere", name)) for name in others]

    assert len(found(grows, *wrong, *right)) == count


@pytest.mark.parametrize(("said", "count"), [("the fields in another order: ['b', 'a']", 1), ("the fields ['b']", 2)])
def test_an_order_that_is_that_of_the_selection_is_so_inside_of_records(said: str, count: int) -> None:
    """A field that is missing there is another fault."""
    cases = [
        judged("a", fails("a", "projection.order-is-the-tables", "the order ['b', 'a']")),
        judged("b", fails("b", "projection.paths-into-one-record-merge", f"place: {said}")),
    ]

    assert len(found(*cases)) == count


def test_a_finding_is_one_cause_whether_its_case_fails_or_hangs() -> None:
    """The end of the case is another matter."""
    hung = fails("b", "buffers.frame", "a check that fails")
    cases = [
        judged("a", fails("a", "buffers.frame", "a check that fails")),
        judged("b", dataclasses.replace(hung, outcome=Outcome.HANG)),
    ]

    assert [cause.cases for cause in found(*cases)] == [("a", "b")]
