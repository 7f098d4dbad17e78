"""Bytes to structure, trusting nothing: a strict reader of Arrow's encapsulated messages."""

from conformance.wire.faults import Fault, Rule, Severity
from conformance.wire.messages import Header, Message, read_messages
from conformance.wire.schema import SchemaMessage, read_schema
from conformance.wire.types import Dictionary, Endianness, Field, Schema, Type, TypeKind

__all__ = [
    "Dictionary",
    "Endianness",
    "Fault",
    "Field",
    "Header",
    "Message",
    "Rule",
    "Schema",
    "SchemaMessage",
    "Severity",
    "Type",
    "TypeKind",
    "read_messages",
    "read_schema",
]
