"""A request that a quota refuses is sent again after growing pauses, a bounded number of times, and counted."""

from __future__ import annotations

import dataclasses
import math

import pytest

from conformance.contract.rpcstatus import TRAILER, retry_status
from conformance.records import Call, CallEnd, MetadataEntry
from conformance.targets.patience import MOST_CALLS, UNSERVED_PAUSES, Patience
from conformance.targets.service import Service

SAID = "requests that a quota or rate limit refused: {} sent again, {} given up; no verdict rests on such a refusal"


class Refusing:
    """A request that is refused ``times`` times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self) -> str:
        """Refuse, or answer."""
        if self.left:
            self.left -= 1
            raise ValueError("quota")
        return "answer"


def asked(patience: Patience, times: int, *, until: float = math.inf) -> str:
    """The answer after so many refusals."""
    return patience.ask(Refusing(times), limited=lambda error: isinstance(error, ValueError), until=until)


def test_pauses_double_until_the_answer_comes() -> None:
    """Each further request is counted for the report."""
    waits: list[float] = []
    patience = Patience(Service(retries=4, pause=1.5), wait=waits.append)

    assert asked(patience, 3) == "answer"
    assert waits == [1.5, 3.0, 6.0]
    assert patience.remarks == (SAID.format(3, 0),)


def test_the_number_of_requests_is_bounded() -> None:
    """The last refusal is raised, and counted apart."""
    waits: list[float] = []
    patience = Patience(Service(retries=1, pause=1.0), wait=waits.append)

    with pytest.raises(ValueError, match="quota"):
        asked(patience, 5)

    assert waits == [1.0]
    assert patience.remarks == (SAID.format(1, 1),)


def test_no_pause_goes_beyond_the_time_of_a_case() -> None:
    """Nothing waits for an answer that would come too late."""
    waits: list[float] = []

    with pytest.raises(ValueError, match="quota"):
        asked(Patience(Service(retries=9, pause=1.0), wait=waits.append), 1, until=0.0)

    assert waits == []


def test_without_a_service_nothing_is_sent_again() -> None:
    """An emulator that refuses has answered."""
    patience = Patience(None)

    with pytest.raises(ValueError, match="quota"):
        asked(patience, 1)

    assert patience.remarks == ()


def test_another_refusal_is_final() -> None:
    """Only a quota is worth a second request."""
    with pytest.raises(ValueError, match="quota"):
        Patience(Service()).ask(Refusing(1), limited=lambda _: False, until=math.inf)


def refused(retry: float | None, status: str = "RESOURCE_EXHAUSTED") -> Call:
    """A refused call, whose status names a delay unless it is None."""
    trailers = () if retry is None else (MetadataEntry(TRAILER, retry_status(8, "busy", retry=retry)),)
    return Call(0, "s", "ReadRows", b"", status=status, trailers=trailers)


SERVED = Call(0, "s", "ReadRows", b"", (b"rows",), status="OK")


def test_a_call_is_made_again_after_the_delay_that_the_server_names() -> None:
    """What comes in the end is its answer; the report says how often."""
    waits: list[float] = []
    answers = iter([refused(2.25), refused(0.5, "UNAVAILABLE"), SERVED])
    patience = Patience(None, wait=waits.append)

    assert patience.make(lambda: next(answers), math.inf) is SERVED
    assert waits == [2.25, 0.5]
    assert patience.remarks == ("made again after the delay that the server named (RetryInfo): 2 calls",)


def test_a_call_that_the_server_could_not_serve_is_made_again() -> None:
    """The published policy of this API says so, also where the status names no delay."""
    waits: list[float] = []
    answers = iter([refused(None, "UNAVAILABLE"), refused(None, "UNAVAILABLE"), SERVED])
    patience = Patience(None, wait=waits.append)

    assert patience.make(lambda: next(answers), math.inf) is SERVED
    assert waits == [0.1, 0.13]
    assert patience.remarks == ("made again after UNAVAILABLE, as Google's clients do: 2 calls",)


def test_a_server_that_never_serves_is_judged() -> None:
    """The pauses are few, and the last answer stands."""
    waits: list[float] = []
    answer = refused(None, "UNAVAILABLE")

    assert Patience(None, wait=waits.append).make(lambda: answer, math.inf) is answer
    assert waits == [*UNSERVED_PAUSES]


@pytest.mark.parametrize(("status", "end"), [("UNAVAILABLE", CallEnd.CRASH), ("INTERNAL", CallEnd.COMPLETE)])
def test_a_lost_connection_and_another_code_are_answers(status: str, end: CallEnd) -> None:
    """The policy does not name the code, and nobody has sent the status of a lost connection."""
    answers = iter([dataclasses.replace(refused(None, status), end=end), SERVED])
    patience = Patience(None)

    assert patience.make(lambda: next(answers), math.inf).status == status
    assert patience.remarks == ()


def gone(text: str, *responses: bytes) -> Call:
    """A call that the library ended with its connection."""
    return Call(0, "s", "ReadRows", b"", responses, end=CallEnd.CRASH, details=f"the connection broke: {text}")


AWAY = "Stream removed (GOAWAY received; Error code: {}; Debug Text: )"
"""What grpcio 1.85.1 says of a call that the server has not begun."""


def test_a_call_that_the_server_has_not_begun_is_made_again() -> None:
    """A server may close a connection at any time: without an error, the call belongs to the next connection."""
    answers = iter([gone(AWAY.format(0)), SERVED])
    patience = Patience(None)

    assert patience.make(lambda: next(answers), math.inf) is SERVED
    assert patience.remarks == ("made again because the server had closed the connection (GOAWAY): 1 call",)


BEGUN = (
    "Stream removed (Socket closed (GOAWAY received; Error code: 0; Debug Text: ))",
    "recvmsg:Connection reset by peer (104) (GOAWAY received; Error code: 0; Debug Text: )",
)
"""What grpcio 1.85.1 says of a call that the server had begun when it hung up after a GOAWAY that includes the call."""


@pytest.mark.parametrize(
    "stays", [gone(AWAY.format(2)), gone(AWAY.format(0), b"rows"), gone("Socket closed"), *map(gone, BEGUN)]
)
def test_a_call_that_a_server_breaks_off_is_judged(stays: Call) -> None:
    """An error of the connection, a call that was begun, and a connection that just ends are the server's doing."""
    assert Patience(None).make(iter([stays]).__next__, math.inf) is stays


@pytest.mark.parametrize("stays", [refused(None), SERVED, dataclasses.replace(refused(1.0), end=CallEnd.DEADLINE)])
def test_a_call_without_a_delay_is_made_once(stays: Call) -> None:
    """Nobody asked for another attempt."""
    waits: list[float] = []

    assert Patience(None, wait=waits.append).make(iter([stays]).__next__, math.inf) is stays
    assert waits == []


def test_a_server_that_is_always_busy_is_judged_by_its_refusal() -> None:
    """The number of attempts is bounded, and so is the time."""
    waits: list[float] = []
    patience = Patience(None, wait=waits.append)
    busy = refused(0.125)

    assert patience.make(lambda: busy, math.inf) is busy
    assert waits == [0.125] * (MOST_CALLS - 1)
    assert patience.make(lambda: busy, 0.0) is busy
    assert len(waits) == MOST_CALLS - 1
