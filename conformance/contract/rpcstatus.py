"""Statuses of gRPC: for those of HTTP, and ``google.rpc.Status`` in a trailer.

Of the trailer ``grpc-status-details-bin``, only that is read which says when to try again.

The numbers are those of the public proto files (googleapis, ``google/rpc/{status,error_details}.proto``). The classes
are in a descriptor pool of their own, for the reason that :mod:`conformance.contract.proto` gives.
"""

from __future__ import annotations

import dataclasses
from types import MappingProxyType
from typing import Any, Final

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, duration_pb2, message_factory
from google.protobuf.message import DecodeError

__all__ = ["STATUS_OF_HTTP", "TRAILER", "Quota", "quota_of", "quota_status", "retry_delay", "retry_status"]

TRAILER: Final = "grpc-status-details-bin"
STATUS_OF_HTTP: Final = MappingProxyType(
    {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        409: "ALREADY_EXISTS",
        429: "RESOURCE_EXHAUSTED",
        501: "UNIMPLEMENTED",
        503: "UNAVAILABLE",
    }
)
"""The status of gRPC for one of HTTP; others are UNKNOWN
(https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto has both).
"""

_PACKAGE: Final = "google.rpc"
_RETRY: Final = f"type.googleapis.com/{_PACKAGE}.RetryInfo"
_QUOTA: Final = f"type.googleapis.com/{_PACKAGE}.QuotaFailure"


@dataclasses.dataclass(frozen=True, slots=True)
class Quota:
    """A server's statement that a quota is exceeded; ``retry`` is the number of seconds to wait, None if unknown."""

    retry: float | None = None


def _build() -> tuple[Any, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="status.proto", package=_PACKAGE, syntax="proto3")
    file.dependency.extend(["google/protobuf/any.proto", "google/protobuf/duration.proto"])
    field = descriptor_pb2.FieldDescriptorProto
    status = file.message_type.add(name="Status")
    status.field.add(name="code", number=1, type=field.TYPE_INT32, label=field.LABEL_OPTIONAL)
    status.field.add(name="message", number=2, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    entry = ".google.protobuf.Any"
    status.field.add(name="details", number=3, type=field.TYPE_MESSAGE, type_name=entry, label=field.LABEL_REPEATED)
    retry = file.message_type.add(name="RetryInfo")
    delay = ".google.protobuf.Duration"
    retry.field.add(name="retry_delay", number=1, type=field.TYPE_MESSAGE, type_name=delay, label=field.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    for known in (any_pb2, duration_pb2, file):
        data = file.SerializeToString() if known is file else known.DESCRIPTOR.serialized_pb  # type: ignore[union-attr]  # a module has it
        pool.AddSerializedFile(data)
    names = (f"{_PACKAGE}.Status", f"{_PACKAGE}.RetryInfo")
    status_class, retry_class = (message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names)
    return status_class, retry_class


_STATUS, _RETRY_INFO = _build()


def quota_of(trailer: bytes) -> Quota | None:
    """The statement about a quota in a trailer; None if there is none, or if the bytes are no status."""
    try:
        details = _STATUS.FromString(trailer).details
        named = {entry.type_url: bytes(entry.value) for entry in details}
        if _RETRY not in named:
            return Quota() if _QUOTA in named else None
        delay = _RETRY_INFO.FromString(named[_RETRY]).retry_delay
    except DecodeError:
        return None
    return Quota(max(0.0, delay.seconds + delay.nanos / 1e9))


def retry_delay(trailer: bytes) -> float | None:
    """The seconds after which a server wants to be asked again, by a trailer; None if it does not say so."""
    quota = quota_of(trailer)
    return None if quota is None else quota.retry


def quota_status(code: int, message: str, *, retry: float) -> bytes:
    """The trailer of a server whose quota is exceeded, and that can be asked again in ``retry`` seconds."""
    status = _STATUS.FromString(retry_status(code, message, retry=retry))
    status.details.add(type_url=_QUOTA)
    return bytes(status.SerializeToString())


def retry_status(code: int, message: str, *, retry: float) -> bytes:
    """The trailer of a status whose call may be made again in ``retry`` seconds."""
    info = _RETRY_INFO()
    info.retry_delay.seconds, info.retry_delay.nanos = int(retry), round(retry % 1 * 1e9)
    status = _STATUS(code=code, message=message)
    status.details.add(type_url=_RETRY, value=info.SerializeToString())
    return bytes(status.SerializeToString())
