"""Verdicts are used again for exchanges that are equal in every field, and for no others."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pyarrow as pa
import pytest

from conformance.engine.reuse import MOST_BYTES, Reuse, Verdicts
from conformance.records import BqType, Call, Case, Column, Exchange, MetadataEntry, Table

CASE = Case("one", "a case", Table((Column("n", BqType.INT64),), rows=()))
CALL = Call(0, "s", "ReadRows", b"asked", (b"one", b"two"), initial_metadata=(MetadataEntry("a", b"b"),))
EXCHANGE = Exchange("one", "reference", (CALL,), now=5)
TABLE = pa.table({"n": [1]})


class _Counting(Reuse):
    """Counts what is judged."""

    judged = 0

    def _judged(self, case: Case, exchange: Exchange, table: pa.Table) -> Verdicts:
        self.judged += 1
        return Verdicts([], [])


def made(exchange: Exchange = EXCHANGE) -> _Counting:
    """What has seen the reference answer with that exchange."""
    reuse = _Counting((), lambda _case, _table: (exchange, frozenset({"used"})))
    reuse.judge(CASE, exchange, TABLE)
    return reuse


def test_an_equal_exchange_is_not_judged_again() -> None:
    """Equal, and not the same object."""
    reuse = made()
    reuse.judge(CASE, dataclasses.replace(EXCHANGE, calls=(dataclasses.replace(CALL),)), TABLE)

    assert reuse.judged == 1


@pytest.mark.parametrize("field", [one.name for one in dataclasses.fields(Exchange)])
def test_every_field_of_an_exchange_counts(field: str) -> None:
    """What a clause can see is in one of them."""
    reuse = made()
    other = dataclasses.replace(EXCHANGE)
    object.__setattr__(other, field, ("another",))
    reuse.judge(CASE, other, TABLE)

    assert reuse.judged == 2


@pytest.mark.parametrize("field", [one.name for one in dataclasses.fields(Call)])
def test_every_field_of_a_call_counts(field: str) -> None:
    """So does each of a call, and with it each entry of metadata."""
    reuse = made()
    other = dataclasses.replace(CALL)
    object.__setattr__(other, field, (MetadataEntry("a", b"c"),))
    reuse.judge(CASE, dataclasses.replace(EXCHANGE, calls=(other,)), TABLE)

    assert reuse.judged == 2


def test_another_case_of_that_id_is_judged() -> None:
    """The verdicts depend on the case."""
    reuse = made()
    reuse.judge(dataclasses.replace(CASE, clauses=("a.b",)), EXCHANGE, TABLE)

    assert reuse.judged == 2


def test_a_large_exchange_is_kept_in_digests() -> None:
    """Its bytes would stay in memory for as long as the process runs."""
    large = dataclasses.replace(EXCHANGE, calls=(dataclasses.replace(CALL, responses=(bytes(MOST_BYTES + 1),)),))
    reuse = made(large)
    reuse.judge(CASE, large, TABLE)

    assert reuse.judged == 1
    assert len(pickle.dumps(reuse._known)) < MOST_BYTES


@pytest.mark.parametrize("change", [{"now": 6}, {"calls": (dataclasses.replace(CALL, responses=(b"\1" * 2**21,)),)}])
def test_a_large_exchange_that_differs_is_judged(change: dict[str, Any]) -> None:
    """In its bytes, or in anything else."""
    large = dataclasses.replace(EXCHANGE, calls=(dataclasses.replace(CALL, responses=(bytes(2**21),)),))
    reuse = made(large)
    reuse.judge(CASE, dataclasses.replace(large, **change), TABLE)

    assert reuse.judged == 2


@pytest.mark.parametrize(("own", "reused"), [({"another"}, True), ({"another", "used"}, False)])
def test_a_service_is_asked_if_the_case_uses_what_differs(own: set[str], reused: object) -> None:
    """Else it answers as the reference does."""
    assert (made().untouched(CASE, TABLE, frozenset(own)) is not None) is reused
