"""The reference refuses credentials and calls as its guard says, at the same call in each run."""

from __future__ import annotations

import grpc
import pytest

from conformance.contract.rpcstatus import TRAILER, Quota, quota_of
from conformance.reference.guard import Guard

UNKNOWN, DENIED, EXHAUSTED = (
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)
OURS = "Bearer ours"


def codes(guard: Guard, *headers: str, rpc: bool = True) -> list[grpc.StatusCode | None]:
    """The code of each refusal; None for a request that is let through."""
    refusals = [guard.check(header, rpc=rpc) for header in headers]
    return [refusal and refusal.code for refusal in refusals]


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        (Guard(), [None, None, None]),
        (Guard(tokens=lambda: ["ours"]), [UNKNOWN, None, UNKNOWN]),
        (Guard(without_role=True), [DENIED, DENIED, DENIED]),
        (Guard(quota_calls=1), [None, EXHAUSTED, EXHAUSTED]),
        (Guard(quota_calls=1, refused_calls=1), [None, EXHAUSTED, None]),
    ],
)
def test_a_call_is_refused_by_who_and_how_often(guard: Guard, expected: list[grpc.StatusCode | None]) -> None:
    """Three calls: without credentials, with the right token, with another one."""
    assert codes(guard, "", OURS, "Bearer theirs") == expected


def test_a_token_expires_after_its_calls() -> None:
    """Each token for itself; REST requests do not count, and are not refused for it."""
    guard = Guard(token_calls=1)

    assert codes(guard, OURS, OURS, "Bearer new") == [None, UNKNOWN, None]
    assert codes(guard, OURS, rpc=False) == [None]


def test_rest_has_a_role_and_a_quota_of_its_own() -> None:
    """Jobs and queries need a permission; requests that read are not counted."""
    listing, job, query, table = (
        "GET /bigquery/v2/projects/p/datasets/d/tables/t/data",
        "POST /upload/bigquery/v2/projects/p/jobs?uploadType=multipart",
        "POST /bigquery/v2/projects/p/queries",
        "POST /bigquery/v2/projects/p/datasets/d/tables",
    )

    def refused(guard: Guard, *requests: str) -> list[grpc.StatusCode | None]:
        refusals = [guard.check(OURS, rpc=False, asked=request) for request in requests]
        return [refusal and refusal.code for refusal in refusals]

    assert refused(Guard(without_jobs=True), listing, job, query, table) == [None, DENIED, DENIED, None]
    assert refused(Guard(quota_requests=1, refused_requests=1), job, listing, table, table) == [
        None, None, EXHAUSTED, None,
    ]  # fmt: skip
    assert refused(Guard(token_requests=1), listing, listing) == [None, UNKNOWN]


def test_a_quota_says_when_to_come_back() -> None:
    """As the service does, in the details of the status."""
    refusal = Guard(quota_calls=0, retry=2.25).check(OURS, rpc=True)

    assert refusal is not None
    ((key, value),) = refusal.trailers
    assert key == TRAILER
    assert isinstance(value, bytes)
    assert quota_of(value) == Quota(2.25)


def test_an_echo_repeats_what_came() -> None:
    """In the details and in a trailer."""
    refusal = Guard(tokens=lambda: ["theirs"], echo=True).check(OURS, rpc=True)

    assert refusal is not None
    assert OURS in refusal.details
    assert refusal.trailers == (("x-echo", OURS),)
