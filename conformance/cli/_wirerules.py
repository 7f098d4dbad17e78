"""The rules on bytes, which `dissect` and `replay` print with `!` and `!!`: what explains one of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.formats.avro import AvroRule
from conformance.report.terminallayout import flowed, paint
from conformance.wire.faults import Rule, Severity, WireRule
from conformance.wire.protobufrules import PermittedEncoding, ProtobufRule

__all__ = ["facts_of_rule", "lines_of_rule", "wire_rule"]

_BINDING: Final = {
    Severity.VIOLATION: "the format forbids anything else",
    Severity.NOTE: "the format does not forbid it; a server or a client may still need it",
}


def wire_rule(name: str) -> WireRule | None:
    """The rule on bytes with this name, if there is one."""
    return next(
        (rule for rule in itertools.chain(Rule, ProtobufRule, PermittedEncoding, AvroRule) if rule.value == name), None
    )


def facts_of_rule(rule: WireRule) -> Mapping[str, str]:
    """The rule as data."""
    return {
        "rule": rule.value,
        "severity": rule.severity.value,
        "requirement": rule.requirement,
        "source": rule.source,
    }


def lines_of_rule(rule: WireRule, width: int) -> Iterator[str]:
    """The rule as text: it is no clause, and what it is worth depends on who reads the bytes."""
    yield paint(f"{rule.value}  [rule on bytes]", bold=True)
    yield ""
    yield from flowed(f"{rule.requirement[0].upper()}{rule.requirement[1:]}.", width)
    yield ""
    yield from flowed(rule.source, width, head=f"{'source':<10}")
    yield from flowed(_BINDING[rule.severity], width, head=f"{'binds':<10}")
