"""What was not judged because of a cause."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.events import Request
from conformance.records import Outcome, Verdict
from tests.engine.causing import LZ4, REFUSED, fails, found, refusal, with_requests
from tests.engine.samples import judged, passing


@pytest.fixture(autouse=True, scope="module")
def _chapters() -> None:
    load_chapters()


def test_a_clause_of_a_refused_call_is_blocked() -> None:
    """The reason of its verdict names the call."""
    reason = f"call 0, CreateReadSession: ended in {REFUSED}"
    case = refusal("a", LZ4)
    verdicts = (*case.verdicts, Verdict("a", "rows.none-is-missing", Outcome.DEPENDENCY_FAILED, reason=reason))

    (cause,) = found(dataclasses.replace(case, verdicts=verdicts))

    assert cause.blocks == ("rows.none-is-missing",)


def test_a_named_clause_that_was_refused_is_blocked() -> None:
    """It has the verdict *refused*, which fails the run."""
    reason = f"call 0, CreateReadSession: ended in {REFUSED}"
    case = judged("a", Verdict("a", "rows.none-is-missing", Outcome.REFUSED, reason=reason))

    (cause,) = found(with_requests(case, Request(0, "CreateReadSession", (LZ4,), refused=REFUSED)))

    assert (cause.blocks, cause.clause) == (("rows.none-is-missing",), "rows.none-is-missing")


def test_bytes_that_cannot_be_decoded_block_the_values() -> None:
    """Not the finding on a name in the same case."""
    verdicts = [
        fails("a", "body.buffers-inside", call=1),
        fails("a", "session.name-has-the-pattern"),
        Verdict("a", "values.string", Outcome.DEPENDENCY_FAILED, reason="the bytes cannot be decoded"),
    ]

    assert {cause.clause: cause.blocks for cause in found(judged("a", *verdicts))} == {
        "body.buffers-inside": ("values.string",),
        "session.name-has-the-pattern": (),
    }


def test_what_stands_beside_a_clause_does_not_block_it() -> None:
    """An absent trace id hides no expiry, in whose chapter it is; an absent expiry does."""
    expiry = ("session.expire-time-is-ahead",)
    trace = dataclasses.replace(judged("a", fails("a", "session.trace-id-is-echoed")), blocked=expiry)
    absent = dataclasses.replace(judged("b", fails("b", "session.expire-time-is-set")), blocked=expiry)

    assert [cause.blocks for cause in found(trace)] == [()]
    assert [cause.blocks for cause in found(absent)] == [expiry]


def test_what_the_target_never_shows_is_blocked_by_nothing() -> None:
    """A server without progress has none where its answers are right, so no refusal keeps it back."""
    hidden = ("rows.progress-goes-on",)
    refused = dataclasses.replace(refusal("a", LZ4), blocked=hidden)
    served = dataclasses.replace(judged("b", fails("b", "schema.order")), blocked=hidden)

    assert [cause.blocks for cause in found(refused)] == [hidden]
    assert [cause.blocks for cause in found(refused, served)] == [(), ()]


def test_what_another_case_went_through_without_showing_is_not_blocked() -> None:
    """A server without polls shows none in a case of polls alone, so no other method keeps it back elsewhere."""
    polls = "flight-poll.progress-from-0-to-1"
    refused = dataclasses.replace(refusal("a", LZ4), blocked=(polls,))
    alone = judged("b", Verdict("b", polls, Outcome.UNTESTABLE, reason="nothing in the exchange shows it"))

    assert found(refused)[0].blocks == (polls,)
    assert found(refused, alone)[0].blocks == ()


def test_what_the_case_owed_is_blocked_by_what_ended_it() -> None:
    """The list comes with the case."""
    case = dataclasses.replace(refusal("a", LZ4), blocked=("rows.none-is-missing", "types.bool"))

    assert found(case)[0].blocks == ("rows.none-is-missing", "types.bool")


def test_a_clause_that_another_case_judged_is_not_blocked() -> None:
    """It is held where it was judged."""
    case = dataclasses.replace(refusal("a", LZ4), blocked=("types.bool", "types.int64"))

    assert found(case, judged("b", passing("b", "types.bool")))[0].blocks == ("types.int64",)


def test_a_clause_whose_passes_do_not_count_is_blocked_by_the_cause_that_takes_their_worth() -> None:
    """Sessions show nothing where no rows come: the lost rows block them, not the refusal in one case."""
    lost = [
        judged(name, fails(name, "rows.none-is-missing"), passing(name, "session.carries-a-schema")) for name in "abc"
    ]
    refused = dataclasses.replace(refusal("d", LZ4), blocked=("rows.none-is-missing", "session.carries-a-schema"))

    assert {cause.clause: cause.blocks for cause in found(*lost, refused)} == {
        "rows.none-is-missing": ("session.carries-a-schema",),
        "rows.read-is-served": (),
    }
