from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.campaign import storedrows
from conformance.contract.judge import Judged
from conformance.contract.view import View
from conformance.contract.viewing import view_of
from conformance.records import BqType, Call, Case, Column, Exchange, Json, Mode, Outcome, Table, Verdict


def serialized(values: list[int], expected: list[int]) -> View:
    """The failed clauses if ``values`` came in place of ``expected``."""
    case = Case(
        "c", "c", Table((Column("a", BqType.INT64, Mode.NULLABLE),), tuple(Json({"a": one}) for one in expected))
    )
    schema = pa.schema([pa.field("a", pa.int64())])
    batch = pa.record_batch([pa.array(values, pa.int64())], schema)
    calls = (
        Call(0, "s", "SerializeSchema", b"", (schema.serialize().to_pybytes(),)),
        Call(1, "batch/0", "SerializeBatch", b"", (batch.serialize().to_pybytes(),)),
    )
    return view_of(case, Exchange("c", "t", calls), pa.table({"a": pa.array(expected, pa.int64())}))


def test_the_digest_of_the_case_own_values_is_zero() -> None:
    """So that two campaigns agree on them without having seen each other."""
    assert storedrows.values_digest(serialized([1, 2, 3], [1, 2, 3])) == 0


def test_rows_in_another_order_are_the_same_values() -> None:
    """Clauses, not this comparison, judge the order."""
    assert storedrows.values_digest(serialized([3, 1, 2], [1, 2, 3])) == 0


def test_other_values_have_another_digest() -> None:
    """And always the same one."""
    one, other = serialized([1, 2, 4], [1, 2, 3]), serialized([1, 2, 5], [1, 2, 3])

    assert len({0, storedrows.values_digest(one), storedrows.values_digest(other)}) == 3
    assert storedrows.values_digest(one) == storedrows.values_digest(serialized([1, 2, 4], [1, 2, 3]))


def test_the_digest_of_bytes_is_of_the_messages() -> None:
    """Other bytes, another digest."""
    one, other = serialized([1, 2], [1, 2]), serialized([1, 3], [1, 2])

    assert storedrows.bytes_digest(one) == storedrows.bytes_digest(serialized([1, 2], [9, 9]))
    assert storedrows.bytes_digest(one) != storedrows.bytes_digest(other)


def test_passes_are_bits_at_the_clauses_places() -> None:
    """Least significant first; what the run does not judge has none."""
    assert storedrows.passed_bits(["a", "x", "j"], storedrows.places("abcdefghij")) == bytes([0b1, 0b10])


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_weight(outcome: Outcome) -> None:
    """A new outcome has to be placed."""
    assert outcome in storedrows.WEIGHT


def test_the_heaviest_outcome_is_the_cases() -> None:
    """A crash outweighs a failure, a failure a pass."""
    others = tuple(Verdict("c", outcome, outcome) for outcome in (Outcome.FAIL, Outcome.CRASH, Outcome.REFUSED))

    assert storedrows.case_outcome(Judged(("a",), others)) is Outcome.CRASH


@pytest.mark.parametrize(("passed", "outcome"), [(("a",), Outcome.PASS), ((), Outcome.UNTESTABLE)])
def test_a_case_without_other_verdicts_passes_where_any_clause_does(passed: tuple[str, ...], outcome: Outcome) -> None:
    """Where none was observed, nothing was tested."""
    assert storedrows.case_outcome(Judged(passed)) is outcome
