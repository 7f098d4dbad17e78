"""Message classes of ``google.protobuf``, made at run time from descriptions of messages; no code is generated.

The classes are in a descriptor pool of their own: a process may have imported the official client libraries too, and
one pool refuses two registrations of one message name. Fields that are missing from a description survive parsing as
unknown fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2

from conformance._protobuftables import WELL_KNOWN, FieldKind, FieldSpec, MessageSpec

__all__ = ["message_classes"]

_Type = descriptor_pb2.FieldDescriptorProto.Type
_TYPES: Final[Mapping[FieldKind, Any]] = {kind: getattr(_Type, f"TYPE_{kind.name}") for kind in FieldKind}
_SHARED: Final = {".google.protobuf.Timestamp": timestamp_pb2.DESCRIPTOR, ".google.protobuf.Any": any_pb2.DESCRIPTOR}


def message_classes(package: str, messages: Mapping[str, MessageSpec]) -> dict[str, Any]:
    """A class for each message of ``messages`` but those of protobuf itself, in the protobuf package ``package``.

    A message with a dot in its name is nested in the message before the dot. The descriptor pool raises
    :class:`TypeError` for descriptions that protobuf refuses, such as a oneof after an optional field.
    """
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    shared = [_SHARED[name] for name in messages if name in WELL_KNOWN]
    file.dependency.extend(one.name for one in shared)
    own = [spec for name, spec in messages.items() if name not in WELL_KNOWN]
    for spec in own:
        message = _nested(file, spec.name)
        message.options.map_entry = spec.map_entry
        for field in spec.fields.values():
            _add(message, field, package, optional=field.presence and not spec.map_entry)
    for name, values in (own[0].enums if own else {}).items():
        outer, _, last = name.rpartition(".")
        enum = (_nested(file, outer) if outer else file).enum_type.add(name=last)
        for number, text in values.items():
            enum.value.add(name=text, number=number)
    pool = descriptor_pool.DescriptorPool()
    for one in shared:
        pool.AddSerializedFile(one.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    found = {spec.name: pool.FindMessageTypeByName(f"{package}.{spec.name}") for spec in own}
    return {name: message_factory.GetMessageClass(descriptor) for name, descriptor in found.items()}


def _nested(file: descriptor_pb2.FileDescriptorProto, name: str) -> descriptor_pb2.DescriptorProto:
    """The message of that dotted name, added if it is not there yet, with the messages that contain it."""
    outer, _, last = name.rpartition(".")
    siblings = _nested(file, outer).nested_type if outer else file.message_type
    return next((one for one in siblings if one.name == last), None) or siblings.add(name=last)


def _add(message: descriptor_pb2.DescriptorProto, spec: FieldSpec, package: str, *, optional: bool) -> None:
    field = message.field.add(name=spec.name, number=spec.number, type=_TYPES[spec.kind])
    field.label = field.LABEL_REPEATED if spec.repeated else field.LABEL_OPTIONAL
    if spec.of:
        field.type_name = spec.of if spec.of in WELL_KNOWN else f".{package}.{spec.of}"
    if optional:
        field.proto3_optional = True
    oneof = f"_{spec.name}" if optional else spec.oneof
    if oneof:
        declared = [group.name for group in message.oneof_decl]
        if oneof not in declared:
            message.oneof_decl.add(name=oneof)
            declared.append(oneof)
        field.oneof_index = declared.index(oneof)
