"""Which answers may be about who asks, and which cases need a table."""

from __future__ import annotations

import pytest

from conformance.contract.rpcstatus import TRAILER, quota_status
from conformance.protocols.storage_read.targets.denied import PLAIN, Denied, denied, needs_table
from conformance.records import (
    AppendRows,
    Call,
    CreateSession,
    Exchange,
    MetadataEntry,
    ReadRows,
    RunQuery,
    SplitStream,
    Step,
)
from tests.targets.conftest import case_of

QUOTA = (MetadataEntry(TRAILER, quota_status(8, "later", retry=1.5)),)


def answered(status: str, *trailers: MetadataEntry) -> Exchange:
    """An exchange with a call that ended so, after one in OK."""
    calls = (Call(0, "s", "CreateReadSession", b""), Call(1, "s/0", "ReadRows", b"", (), status, "no", trailers))
    return Exchange("a", "x", calls)


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        ("RESOURCE_EXHAUSTED", "HTTP 429 {}", "RESOURCE_EXHAUSTED"),
        ("PERMISSION_DENIED", 'HTTP 403 {"reason": "rateLimitExceeded"}', "RESOURCE_EXHAUSTED"),
        ("PERMISSION_DENIED", "HTTP 403 access denied", "PERMISSION_DENIED"),
        ("INVALID_ARGUMENT", "HTTP 400 no such format", None),
    ],
)
def test_a_query_has_the_statuses_of_rest(status: str, said: str, expected: str | None) -> None:
    """BigQuery answers a reached limit with 403; 429 is nothing else."""
    found = denied(Exchange("a", "x", (Call(0, "q", RunQuery.METHOD, b"", (), status, said),)), "")

    assert (found and found.status) == expected


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        (answered("OK"), None),
        (answered("NOT_FOUND"), None),
        (answered("RESOURCE_EXHAUSTED"), None),
        (answered("RESOURCE_EXHAUSTED", MetadataEntry(TRAILER, b"\xff\xff")), None),
        (answered("RESOURCE_EXHAUSTED", *QUOTA), Denied("RESOURCE_EXHAUSTED", "", 1.5)),
        (answered("UNAUTHENTICATED"), Denied("UNAUTHENTICATED", "")),
        (answered("PERMISSION_DENIED"), Denied("PERMISSION_DENIED", "")),
    ],
)
def test_an_answer_is_in_question_by_its_status(exchange: Exchange, expected: Denied | None) -> None:
    """RESOURCE_EXHAUSTED alone may mean that a message is too large; with details it is a quota."""
    found = denied(exchange, "")

    assert (found and (found.status, found.retry)) == (expected and (expected.status, expected.retry))


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("POST /x: HTTP 401 who are you", "UNAUTHENTICATED"),
        ("POST /x: HTTP 403 Access Denied", "PERMISSION_DENIED"),
        ("POST /x: HTTP 403 Quota exceeded: too many inserts", "RESOURCE_EXHAUSTED"),
        ("POST /x: HTTP 429 slow down", "RESOURCE_EXHAUSTED"),
        ('the load job failed: {"reason": "rateLimitExceeded"}', "RESOURCE_EXHAUSTED"),
    ],
)
def test_a_table_that_rest_refuses_is_in_question(said: str, status: str) -> None:
    """The case was not seeded, and the last REST answer says why."""
    found = denied(Exchange("a", "x", untestable="cannot seed"), said)

    assert found == Denied(status, said)
    assert denied(Exchange("a", "x", untestable="cannot seed"), "") is None


def test_the_sentence_says_what_is_missing() -> None:
    """A file without credentials is another mistake than wrong ones."""
    refused = Denied("UNAUTHENTICATED", "ReadRows ended in UNAUTHENTICATED: no")

    assert refused.sentence(named=True).startswith("set-up: the server does not accept the credentials, not even for")
    assert refused.sentence(named=False).startswith(
        "set-up: the server asks for credentials, and [endpoint] names none"
    )


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (PLAIN.steps, True),
        ((CreateSession(table="projects/{project}/datasets/{dataset}/tables/none"),), False),
        ((CreateSession(table="projects/p/datasets/d/tables/{table}"),), True),
        ((ReadRows(name="projects/p/streams/none"), SplitStream(name="none")), False),
        ((ReadRows(name="none"), AppendRows(1)), True),
    ],
)
def test_a_case_needs_no_table_if_it_names_others_only(steps: tuple[Step, ...], expected: bool) -> None:  # noqa: FBT001  # a table
    """Such a case can be put to a server without REST."""
    assert needs_table(case_of(*steps)) is expected
