"""Bytes to structure, trusting nothing: a strict reader of Arrow's encapsulated messages."""

from conformance.wire.faults import Fault, Rule, Severity

__all__ = ["Fault", "Rule", "Severity"]
