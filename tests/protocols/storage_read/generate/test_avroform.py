"""The Avro form of a case asks for the same, names the clauses that Avro can show, and lets a server refuse Avro."""

from __future__ import annotations

import dataclasses
from fnmatch import fnmatchcase

import pytest

from conformance.contract.judge import judge
from conformance.engine.corpus import load_corpus
from conformance.engine.owed import reference_target
from conformance.engine.selection import all_clauses
from conformance.generate import draw_case, draw_scenario, materialise
from conformance.protocols.storage_read.generate.avroform import ARROW_ALONE, ON_TYPES, REFUSALS, in_avro
from conformance.protocols.storage_read.generate.scenarios import is_scenario
from conformance.records import (
    BqType,
    Case,
    Column,
    CreateSession,
    Expect,
    Outcome,
    ReadRows,
    Recipe,
    RunQuery,
    Table,
)

TABLE = Table((Column("row_id", BqType.INT64),), recipe=Recipe(rows=2))


def asking(*steps: CreateSession | ReadRows | RunQuery, table: Table = TABLE, clauses: tuple[str, ...] = ()) -> Case:
    """A case with these steps."""
    return Case("one", "A case", table, steps, clauses)


def sessions(case: Case | None) -> list[CreateSession]:
    """The steps that create sessions in a case that has the form."""
    assert case is not None
    return [step for step in case.steps if isinstance(step, CreateSession)]


def test_all_sessions_ask_for_avro_and_nothing_else_changes() -> None:
    """Options, labels and other steps stay."""
    case = asking(CreateSession(row_restriction="row_id = 1"), ReadRows(), CreateSession(label="t"))

    form = in_avro(case)

    assert form is not None
    assert form.steps[1] == case.steps[1]
    back = [dataclasses.replace(one, data_format="ARROW", expect=Expect()) for one in sessions(form)]
    assert back == sessions(case)


def test_a_session_that_has_to_be_served_may_be_refused() -> None:
    """A step whose refusal is expected keeps its codes: that of the format would hide the right one."""
    refused = Expect(codes=("NOT_FOUND",))

    served, kept = sessions(in_avro(asking(CreateSession(), CreateSession(label="t", expect=refused))))

    assert served.expect.codes == ("OK", *REFUSALS)
    assert kept.expect == refused


@pytest.mark.parametrize(
    "case",
    [
        asking(ReadRows(name="projects/p/locations/us/sessions/s/streams/t")),
        asking(CreateSession(), RunQuery(), clauses=("query-results.*",)),
        asking(CreateSession(data_format="DATA_FORMAT_UNSPECIFIED")),
        asking(CreateSession(data_format="AVRO")),
        asking(CreateSession(buffer_compression="ZSTD"), clauses=("compression.*",)),
        asking(CreateSession(), table=Table((Column("é", BqType.INT64),), recipe=Recipe(rows=1))),
        asking(
            CreateSession(),
            table=Table((Column("r", BqType.RECORD, fields=(Column("a b", BqType.INT64),)),), recipe=Recipe(rows=1)),
        ),
    ],
    ids=["no-session", "query", "no-format", "avro", "codec", "name", "nested-name"],
)
def test_a_case_about_something_else_has_no_such_form(case: Case) -> None:
    """Avro has no codec for buffers, no query results, and fewer names than BigQuery."""
    assert in_avro(case) is None


def test_a_drawn_case_loses_its_codec() -> None:
    """It does not exist for the codec, and its other features are asked in Avro as well."""
    drawn = (draw_scenario(0, index) for index in range(60))
    coded = next(case for case in drawn if any(step.buffer_compression for step in sessions(case)))

    form = in_avro(coded)

    assert form is not None
    assert is_scenario(form)
    assert not any(step.buffer_compression for step in sessions(form))


def test_a_drawn_query_is_a_session_in_avro() -> None:
    """Its table is read by one, and a scenario that ends with a query goes without it."""
    queried = next(one for index in range(99) if (one := draw_scenario(0, index)).needs)
    for drawn in (draw_case(0, 5, profile="server"), queried):
        form = in_avro(drawn)

        assert drawn.needs == ("query-results",)
        assert form is not None
        assert form.needs == ()
        assert {type(step) for step in form.steps} >= {CreateSession, ReadRows}
        assert RunQuery not in {type(step) for step in form.steps}


def test_clauses_on_arrow_messages_are_not_named() -> None:
    """A pattern stays if all of its clauses can be shown, and gives way to those of them that can be otherwise."""
    form = in_avro(asking(CreateSession(), clauses=("types.*", "offsets.negative-*", "rows.*")))

    assert form is not None
    assert (form.clauses[0], form.clauses[-1]) == ("offsets.negative-*", ON_TYPES)
    assert set(form.clauses[1:-1]) == {
        name for name in all_clauses() if name.startswith("rows.") and name not in ARROW_ALONE
    }


def test_each_written_form_is_owed_a_clause() -> None:
    """A session in Avro that is refused is not judged, and says so."""
    forms = [form for case in load_corpus().values() if case.clauses and (form := in_avro(case)) is not None]

    assert len(forms) > 250
    assert [form.id for form in forms if not form.clauses] == []


@pytest.mark.parametrize("clause", sorted(ARROW_ALONE))
def test_the_reference_does_not_show_the_clauses_that_are_left_out(clause: str) -> None:
    """A clause that a session in Avro shows would have to be named."""
    cases = load_corpus().values()
    case = next(one for one in cases if in_avro(one) and any(fnmatchcase(clause, glob) for glob in one.clauses))
    form = in_avro(case)
    assert form is not None
    table = materialise(case.table)

    with reference_target() as target:
        exchange = target.drive(dataclasses.replace(form, isolated=False), table)
    named = dataclasses.replace(form, clauses=(clause,))
    verdicts = {one.clause: one.outcome for one in judge(named, exchange, table)}

    assert verdicts[clause] is Outcome.UNTESTABLE
    assert not any(outcome.fails_run for outcome in verdicts.values())
