"""Several clients of one case: each has cookies of its own, and what they do at the same time is open together."""

from __future__ import annotations

from conformance.engine.owed import reference_target
from conformance.generate import materialise
from conformance.protocols.flight.contract.encoding import part, text
from conformance.protocols.flight.records import Descriptor, DoAction, DoGet, DoPut, GetFlightInfo
from conformance.records import BqType, Case, Column, Exchange, Mode, Recipe, Step, Table

TABLE = Table((Column("row_id", BqType.INT64, Mode.REQUIRED),), recipe=Recipe(rows=8))
F, G = Descriptor(path=("f",)), Descriptor(path=("g",))
SET = part(1, text(1, "zone") + part(2, text(1, "UTC")))


def driven(*steps: Step, times: int = 1) -> Exchange:
    """The last exchange of a case that the reference is asked so many times."""
    case = Case("flight.parties", "Several clients", TABLE, steps, protocol="flight")
    with reference_target("flight") as target:
        *_, last = [target.drive(case, materialise(case.table)) for _ in range(times)]
    return last


def test_each_client_has_a_session_of_its_own() -> None:
    """The second client gets another cookie, and each sends its own later."""
    own = DoAction("SetSessionOptions", body=SET)
    other = DoAction("SetSessionOptions", body=SET, client="b")
    made = driven(own, other, own, other).calls
    cookies = [{entry.value for entry in call.initial_metadata if entry.key == "set-cookie"} for call in made]

    assert [call.status for call in made] == ["OK"] * 4
    assert [len(one) for one in cookies] == [1, 1, 0, 0]
    assert cookies[0] != cookies[1]


def test_calls_at_the_same_time_are_recorded_in_the_order_of_the_steps() -> None:
    """Whichever of them ends first."""
    made = driven(
        DoPut(F, first=0, count=2),
        GetFlightInfo(F),
        DoPut(F, first=2, count=2),
        DoPut(G, first=4, count=4, client="b", alongside=True),
        DoGet(alongside=True),
        GetFlightInfo(G, label="j", client="b"),
        DoGet("j", client="b"),
    ).calls

    assert [call.step for call in made] == [0, 1, 2, 3, 4, 5, 6]
    assert {call.status for call in made} == {"OK"}


def test_another_attempt_has_flights_of_its_own() -> None:
    """A flight that only the first attempt could have put is not there for the second."""
    once, again = (driven(GetFlightInfo(F), DoPut(F), times=times).calls for times in (1, 2))

    assert [call.status for call in once] == [call.status for call in again] == ["NOT_FOUND", "OK"]
