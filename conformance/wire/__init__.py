"""Bytes to structure, trusting nothing: a strict reader of Arrow's encapsulated messages."""

from conformance.wire.batch import BatchMessage, BufferRange, Node, read_batch
from conformance.wire.dissect import Dissection, Region, RegionKind, dissect
from conformance.wire.faults import Fault, Rule, Severity
from conformance.wire.messages import Header, Message, read_messages
from conformance.wire.schema import SchemaMessage, read_schema
from conformance.wire.types import Dictionary, Endianness, Field, Schema, Type, TypeKind

__all__ = [
    "BatchMessage",
    "BufferRange",
    "Dictionary",
    "Dissection",
    "Endianness",
    "Fault",
    "Field",
    "Header",
    "Message",
    "Node",
    "Region",
    "RegionKind",
    "Rule",
    "Schema",
    "SchemaMessage",
    "Severity",
    "Type",
    "TypeKind",
    "dissect",
    "read_batch",
    "read_messages",
    "read_schema",
]
