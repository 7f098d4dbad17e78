from __future__ import annotations

from typing import Any

import pytest

from conformance.contract.viewing import view_of
from conformance.records import CreateSession, Expect, Outcome, ReadRows, SplitStream, Step
from tests.contract.exchanges import (
    Deviation,
    Obedient,
    Spoil,
    case_of,
    create,
    failed,
    prove,
    read,
    responses_of,
    split,
    verdicts,
)
from tests.protocols.storage_read.chapters.test_restriction import accepted


def refusal(reason: str, *codes: str) -> Expect:
    """A refusal for a reason."""
    return Expect(codes=codes or ("INVALID_ARGUMENT",), reason=reason)


REQUESTS: dict[str, Step] = {
    "unspecified-format": CreateSession(data_format="", expect=refusal("data-format-unspecified")),
    "bad-parent": CreateSession(parent="project", expect=refusal("bad-parent")),
    "malformed-table": CreateSession(table="d.t", expect=refusal("malformed-table", "INVALID_ARGUMENT")),
    "missing-table": CreateSession(
        table="projects/p/datasets/{dataset}/tables/absent",
        expect=refusal("missing-table", "NOT_FOUND", "PERMISSION_DENIED"),
    ),
    "unknown-column": CreateSession(selected_fields=("nope",), expect=refusal("unknown-column")),
    "bad-restriction": CreateSession(row_restriction="id >", expect=refusal("malformed-restriction")),
    "long-restriction": CreateSession(row_restriction="id > 0", expect=refusal("restriction-too-long")),
    "preferred-above-maximum": CreateSession(
        max_stream_count=1, preferred_min_stream_count=2, expect=refusal("preferred-exceeds-max")
    ),
    "negative-stream-count": CreateSession(max_stream_count=-1, expect=refusal("negative-stream-count")),
    "long-trace-id": CreateSession(trace_id="t" * 257, expect=refusal("long-trace-id")),
    "snapshot-outside-window": CreateSession(snapshot="past", expect=refusal("snapshot-outside-window")),
}
NAMES = {
    "unknown-stream": "{session}/streams/nope",
    "unknown-session": "projects/p/locations/us/sessions/nope/streams/0",
    "malformed-stream": "nope",
}


def fault(clause: str, request: str, spoil: Spoil, **more: Any) -> Deviation:
    """A deviation from the refusal of one bad request."""
    return Deviation(f"errors.{clause}", case_of(REQUESTS[request]), spoil, **more)


def read_of(reason: str) -> Any:
    """A case that reads a stream that is none."""
    step = ReadRows(name=NAMES[reason], expect=refusal(reason, "NOT_FOUND", "INVALID_ARGUMENT"))
    return case_of(CreateSession(), step)


def read_accepted(answers: list[Any]) -> None:
    """The read ends in OK."""
    read(answers).status, read(answers).details = "OK", ""


def rows_first(answers: list[Any]) -> None:
    """Rows come before the refusal."""
    read(answers).responses = responses_of(Obedient(case_of()).table)


SPLIT = case_of(
    SplitStream(name=NAMES["unknown-session"], expect=refusal("split-unknown-stream", "NOT_FOUND", "INVALID_ARGUMENT"))
)


def split_accepted(answers: list[Any]) -> None:
    """The split ends in OK."""
    split(answers).status, split(answers).details = "OK", ""


CODED = (
    "unspecified-format", "bad-parent", "missing-table", "unknown-column", "bad-restriction", "long-restriction",
    "preferred-above-maximum", "snapshot-outside-window",
)  # fmt: skip
OWN = ("unspecified-format", "bad-parent", "malformed-table", "missing-table", "preferred-above-maximum",
       "negative-stream-count", "long-trace-id")  # fmt: skip

DEVIATIONS = (
    *(fault(f"{name}-is-refused", name, accepted) for name in OWN),
    *(fault(f"{name}-has-its-code", name, lambda a: setattr(create(a), "status", "UNIMPLEMENTED")) for name in CODED),
    *(Deviation(f"errors.{reason}-is-refused", read_of(reason), read_accepted) for reason in NAMES),
    Deviation("errors.split-of-unknown-stream-is-refused", SPLIT, split_accepted),
    fault(
        "unrecorded-refusal-has-a-fitting-code",
        "malformed-table",
        lambda a: setattr(create(a), "status", "UNIMPLEMENTED"),
    ),
    *(
        fault("permanent-one-is-not-unknown", name, lambda a: setattr(create(a), "status", "UNKNOWN"))
        for name in REQUESTS
    ),
    *(
        fault("permanent-one-is-not-retryable", name, lambda a: setattr(create(a), "status", "INTERNAL"))
        for name in REQUESTS
    ),
    fault("message-says-something", "bad-parent", lambda a: create(a).refuse(details=" ")),
    fault("unknown-column-is-named", "unknown-column", lambda a: create(a).refuse(details="bad request")),
    fault("missing-table-is-named", "missing-table", lambda a: create(a).refuse("NOT_FOUND", "bad request")),
    Deviation(
        "errors.permanent-one-is-not-unknown",
        case_of(CreateSession(selected_fields=("name", "name"), expect=Expect(codes=("OK", "INVALID_ARGUMENT")))),
        lambda a: create(a).refuse("UNKNOWN"),
    ),
    Deviation("errors.refused-read-has-no-rows", read_of("unknown-stream"), rows_first),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


@pytest.mark.parametrize(
    ("details", "names"),
    [("Not found: Dataset p:absent", True), ("Not found: Table p:absent.t", True), ("gone", False)],
)
def test_the_name_of_a_missing_dataset_is_enough(details: str, *, names: bool) -> None:
    """A server may look for the dataset first, and then knows of no table."""
    table = "projects/{project}/datasets/absent/tables/{table}"
    case = case_of(CreateSession(table=table, expect=refusal("missing-table", "NOT_FOUND")))

    found = failed(verdicts(case, lambda answers: create(answers).refuse("NOT_FOUND", details)))

    assert ("errors.missing-table-is-named" not in found) is names


def test_a_request_that_may_be_served_need_not_be_refused() -> None:
    """A reason for a refusal binds a server only if OK is not among the codes that the case permits."""
    step = CreateSession(trace_id="t" * 257, expect=refusal("long-trace-id", "OK", "INVALID_ARGUMENT"))

    found = verdicts(case_of(step))

    assert failed(found) == set()
    assert "errors.long-trace-id-is-refused" not in {one.clause for one in found}


@pytest.mark.parametrize("has_splits", [False, True])
def test_a_server_without_splits_says_so_with_a_fitting_code(*, has_splits: bool) -> None:
    """UNIMPLEMENTED is wrong only if another split of the exchange shows that the server has the method."""
    bad = SplitStream(fraction=-0.5, expect=Expect(codes=("INVALID_ARGUMENT",), reason="split-fraction-outside"))
    steps = (SplitStream(label="good"), bad) if has_splits else (bad,)
    server = Obedient(case_of(CreateSession(), *steps))
    answers = server.run()
    split(answers, len(steps) - 1).refuse("UNIMPLEMENTED")
    view = view_of(server.case, server.freeze(answers), server.table)

    found = failed(verdicts(server.case, lambda a: split(a, len(steps) - 1).refuse("UNIMPLEMENTED")))

    assert ("errors.unrecorded-refusal-has-a-fitting-code" in found) is has_splits
    assert view.reason_not_judged()[0] is (Outcome.REFUSED if has_splits else Outcome.UNTESTABLE)
