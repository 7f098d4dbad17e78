"""A case in another form has an id from which it is made again, and everything but its format is the same."""

from __future__ import annotations

import pytest

from conformance.engine.corpus import load_corpus, resolve_case
from conformance.generate import draw_case, draw_scenario
from conformance.generate.forms import (
    BASE,
    EVERY,
    drawn_in,
    form_id,
    form_names,
    forms_of,
    in_form,
    in_forms,
    names_of,
    parted,
    place_of,
    wanted,
)
from conformance.protocol import protocol_names
from conformance.records import Case, CreateSession
from tests.engine.samples import sample_case

PLAIN = sample_case("plain", clauses=("rows.*",))
ASKED_FOR = (CreateSession(data_format="AVRO"),)
"""The steps of a case that asks for a format itself, so that it has no form of it."""


def other(name: str = "other") -> Case:
    """A case without another form."""
    return Case(name, "A case in Avro", PLAIN.table, ASKED_FOR)


def test_the_base_comes_first_and_every_form_has_a_name() -> None:
    """The names of the forms are the choices of ``--data-format``."""
    assert form_names()[0] == BASE
    assert set(form_names()) == {BASE, *(form for name in protocol_names() for form in forms_of(name))}
    assert EVERY not in form_names()


@pytest.mark.parametrize("form", form_names())
def test_an_id_says_the_form(form: str) -> None:
    """The id in a form is parted into what it was made of."""
    assert parted(form_id("rows.none", form)) == ("rows.none", form)


@pytest.mark.parametrize("name", ["rows.none", "rows@none", "rows.none@", "@", "a@b@c"])
def test_an_id_with_another_ending_is_in_the_base(name: str) -> None:
    """An at-sign in the id of a user's own case says nothing unless the name of a form follows."""
    assert parted(name) == (name, BASE)
    assert names_of(name) == (name,)


def test_a_case_without_the_form_has_none() -> None:
    """The base is a form of every case."""
    assert in_form(other(), "avro") is None
    assert in_form(other(), BASE) == other()


def test_forms_of_a_case_follow_each_other() -> None:
    """A case without a form is left out in that form alone."""
    cases = [PLAIN, other()]

    assert [case.id for case in in_forms(cases, EVERY)] == ["plain", "plain@avro", "other"]
    assert [case.id for case in in_forms(cases, "avro")] == ["plain@avro"]
    assert in_forms(cases, BASE) == cases


def test_a_pattern_that_ends_with_a_form_asks_for_it() -> None:
    """A pattern without this ending adds nothing to the base."""
    assert [case.id for case in in_forms([PLAIN], BASE, ("pl*@avro",))] == ["plain", "plain@avro"]
    assert in_forms([PLAIN], BASE, ("*", "other@avro")) == [PLAIN]


def test_ids_sort_by_the_base_and_then_by_the_form() -> None:
    """A hyphen comes before an at-sign in ASCII, and the forms of a case belong together."""
    ids = ["rows.one", "rows.one@avro", "rows.one-row", "rows.one-row@avro"]

    assert sorted(sorted(ids), key=place_of) == ids


@pytest.mark.parametrize("name", ["rows.one-row", "generated.server.s3.i5", "scenario.s3.i5"])
def test_a_case_in_a_form_is_found_by_its_id(name: str) -> None:
    """Written and drawn cases are the same whether they are looked up or made."""
    found = resolve_case(f"{name}@avro")

    assert found == in_form(resolve_case(name), "avro")
    assert found.id == f"{name}@avro"


def test_a_form_that_a_case_lacks_is_an_unknown_case() -> None:
    """The error is that of an id that nothing has."""
    with pytest.raises(KeyError, match=r"rows\.avro@avro"):
        resolve_case("rows.avro@avro")


def test_every_drawn_case_and_scenario_has_every_form() -> None:
    """The ids of a run's drawn cases follow from their number, so none may be missing."""
    cases = [draw_case(2, index, profile="server") for index in range(60)]
    cases += [draw_scenario(2, index) for index in range(40)]

    for case in cases:
        assert all(in_form(case, form) is not None for form in wanted(case.protocol, EVERY)), case.id


def test_a_drawn_case_without_the_form_is_an_error() -> None:
    """The run goes on, with an error of the suite on this case."""
    with pytest.raises(LookupError, match="other: a drawn case without the form avro"):
        drawn_in("avro", other)


def test_case_ids_of_the_corpus_name_no_form() -> None:
    """Otherwise two cases could have one id."""
    assert all(parted(name) == (name, BASE) for name in load_corpus(protocol=None))
