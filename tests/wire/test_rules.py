"""Every rule is alive: something breaks it, and what breaks it is reported with a place and in words."""

from __future__ import annotations

import pytest

from conformance.wire.faults import Fault, Rule, Severity
from tests.wire.breaking import BREAKING


def test_every_rule_has_bytes_that_break_it() -> None:
    """No rule is listed that cannot be reported, and none is reported that is not listed."""
    assert set(BREAKING) == set(Rule)


@pytest.mark.parametrize("rule", list(BREAKING), ids=str)
def test_rule_is_reported(rule: Rule) -> None:
    """The bytes made to break a rule are reported under it, once, with a place."""
    faults = BREAKING[rule]()

    found = [fault for fault in faults if fault.rule is rule]
    assert found, [str(fault) for fault in faults]
    assert all(0 <= fault.start <= fault.end for fault in found)
    assert all(fault.observed for fault in found)


@pytest.mark.parametrize("rule", list(Rule), ids=str)
def test_rule_says_what_it_requires_and_who_says_so(rule: Rule) -> None:
    """A finding can always be explained: requirement and source are written down."""
    assert rule.requirement
    assert rule.source
    assert rule.severity in Severity


def test_fault_reads_as_a_sentence() -> None:
    """The text of a fault names the rule, the place, what was required and what was there."""
    fault = Fault(Rule.TIME_RANGE, 8, 12, "x data", "a time of day", "86400 in slot 0")

    assert str(fault) == "time.range: x data, bytes 8 to 12: expected a time of day; found 86400 in slot 0"
