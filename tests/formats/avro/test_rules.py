"""Every rule is alive: something breaks it and nothing else, and the fault has a place and words."""

from __future__ import annotations

import pytest

from conformance.formats.avro import AvroRule, read_avro_rows, read_avro_schema
from conformance.wire.faults import Severity
from tests.formats.avro.breaking import ROWS, SCHEMAS, schema_of

READER: frozenset[AvroRule] = frozenset(
    {AvroRule.SCHEMA_KEY_REPEATED, AvroRule.LOGICAL_UNKNOWN, AvroRule.VARINT_NOT_MINIMAL}
)
"""Notes that bind nobody: parsers cope, or nobody knows all logical types of BigQuery."""


def test_every_rule_has_an_example_that_breaks_it() -> None:
    """No rule is listed that cannot be reported, and none has two examples."""
    assert set(SCHEMAS) | set(ROWS) == set(AvroRule)
    assert not set(SCHEMAS) & set(ROWS)


@pytest.mark.parametrize("rule", SCHEMAS, ids=str)
def test_a_schema_breaks_its_rule_and_no_other(rule: AvroRule) -> None:
    """The text has one fault, in words, and the whole text as its place."""
    text = SCHEMAS[rule]

    (fault,) = read_avro_schema(text).faults

    assert fault.rule is rule
    assert fault.observed
    assert (fault.start, fault.end) == (0, len(text))


@pytest.mark.parametrize("rule", ROWS, ids=str)
def test_rows_break_their_rule_and_no_other(rule: AvroRule) -> None:
    """The bytes have one fault, in words, with the row and a place inside the bytes."""
    types, data, count = ROWS[rule]

    (fault,) = read_avro_rows(bytes.fromhex(data), schema_of(*types), count).faults

    assert fault.rule is rule
    assert fault.observed
    assert fault.path.startswith("row ")
    assert 0 <= fault.start <= fault.end <= len(bytes.fromhex(data))


@pytest.mark.parametrize("rule", list(AvroRule), ids=str)
def test_rule_says_what_it_requires_and_who_says_so(rule: AvroRule) -> None:
    """A finding can always be explained: requirement and source are written down."""
    assert rule.requirement
    assert rule.source
    assert rule.severity in Severity


def test_a_rule_binds_by_avro_or_by_the_service() -> None:
    """What the Avro specification does not forbid binds a server only if BigQuery's own documents or bytes say it."""
    assert {rule for rule in AvroRule if not rule.binds} == READER
    assert all("avro.apache.org" not in rule.source for rule in AvroRule if rule.of_service)
