"""The subjects of clauses on Flight: none in other exchanges, and only what can be judged."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.view import View
from conformance.protocols.flight.contract.subjects import (
    answered_calls,
    columns_of,
    infos,
    look_alike,
    of_method,
    reads,
    refusals,
    sent_rows,
    stored,
    without_dictionaries,
)
from conformance.protocols.flight.records import (
    Descriptor,
    DoGet,
    DoPut,
    FlightMethod,
    GetFlightInfo,
    NameForm,
)
from conformance.protocols.flight.reference.deviations import flight_service
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Flight
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.records import Exchange, Expect, GivingUp
from tests.protocols.flight.reference.direct import PATH, PUT_AND_GET, case_of, seen

load_chapters()
ON_FLIGHT = [clause for clause in CLAUSES.values() if clause.protocol == "flight"]


@pytest.mark.parametrize("clause", ON_FLIGHT, ids=lambda clause: clause.id)
def test_no_clause_on_flight_has_a_subject_elsewhere(clause: object) -> None:
    """An exchange of Storage Read, or none at all, shows nothing of Flight."""
    case = case_of(*PUT_AND_GET)
    view = View(case, Exchange(case.id, "t"), pa.table({}))

    assert list(clause.over(view)) == []  # type: ignore[attr-defined]  # a clause


def test_calls_are_told_by_their_status_and_method() -> None:
    """A refusal is answered and not OK."""
    view = seen(case_of(*PUT_AND_GET, DoGet(ticket=b"none"), GetFlightInfo(Descriptor(cmd=b"none"))))

    assert len(answered_calls(view)) == 5
    assert [call.raw.status for call in refusals(view)] == ["NOT_FOUND", "NOT_FOUND"]
    assert len(reads(view)) == len(infos(view)) == 1
    assert [call.raw.method for call in of_method(FlightMethod.DO_PUT)(view)] == ["DoPut"]


def test_rows_of_all_endpoints_are_one_table() -> None:
    """In the order of the endpoints, with dictionaries resolved."""
    names = ("flight-info.several-endpoints", "flight-data.dictionaries")
    service = type("Both", tuple(FLIGHT_VARIATIONS[name].service for name in names), {})
    (one,) = stored(seen(case_of(*PUT_AND_GET), service()))

    assert one.rows is not None
    assert one.rows.to_pylist() == one.table.to_pylist()


def test_an_info_without_endpoints_has_no_rows() -> None:
    """That is what a client reads of it: nothing."""
    (one,) = stored(seen(case_of(*PUT_AND_GET), flight_service("flight-put.no-endpoint")()))

    assert one.rows is not None
    assert (one.rows.num_rows, one.rows.schema) == (0, one.table.schema)


def test_what_was_refused_or_not_read_is_not_stored() -> None:
    """No clause on stored tables judges it."""
    assert stored(seen(case_of(DoPut(PATH), GetFlightInfo(PATH)))) == []
    assert stored(seen(case_of(*PUT_AND_GET[:2], GetFlightInfo(PATH, label="again"), DoGet(info="again")))) != []


def test_endpoints_with_different_columns_have_no_common_rows() -> None:
    """Another clause names the contradiction."""

    class Differing(FlightService):
        def endpoints(self, flight: Flight) -> list[bytes]:
            parts = (flight, flight.without_last_column())
            return [self.endpoint(self.store.ticket(part, part.batches)) for part in parts]

    assert stored(seen(case_of(*PUT_AND_GET), Differing())) == []


def test_columns_are_names_and_types() -> None:
    """Nullability, metadata and dictionaries are how a column is sent, not what it is."""
    plain = pa.schema([pa.field("a", pa.string())])
    sent = pa.schema([pa.field("a", pa.dictionary(pa.int8(), pa.string()), nullable=False, metadata={"k": "v"})])

    assert columns_of(plain) == columns_of(sent)
    assert columns_of(plain) != columns_of(pa.schema([pa.field("a", pa.binary())]))


def test_dictionaries_are_replaced_by_their_values() -> None:
    """In the schema as well."""
    table = pa.table({"w": pa.array(["x", None, "x"]).dictionary_encode(), "n": [1, 2, 3]})

    plain = without_dictionaries(table)

    assert plain.schema == pa.schema([("w", pa.string()), ("n", pa.int64())])
    assert plain.to_pylist() == table.to_pylist()


def test_paths_look_alike_if_slashes_join_them() -> None:
    """A table is then judged by the clause on such paths alone."""
    split = Descriptor(path=("table", "part"), form=NameForm.SPLIT)
    slashed = Descriptor(path=("table", "part"), form=NameForm.SLASHED)
    dotted = Descriptor(path=("table", "part"))
    alike = seen(case_of(DoPut(split), DoPut(slashed), GetFlightInfo(split), DoGet()))
    apart = seen(case_of(DoPut(split), DoPut(dotted), GetFlightInfo(split), DoGet()))

    assert (len(look_alike(alike)), len(stored(alike))) == (1, 0)
    assert (len(look_alike(apart)), len(stored(apart))) == (0, 1)


def test_the_rows_that_a_step_names_are_those_sent() -> None:
    """They are all rows of the case otherwise."""
    part = DoPut(PATH, stop=2, gives_up=GivingUp.HALF_CLOSE, expect=Expect(rows=(0, 1)))
    calls = seen(case_of(part, DoPut(PATH))).flight_calls

    assert [sent_rows(call).num_rows for call in calls] == [2, 3]
