"""The steps of cases of the Storage Write API, and the closed sets that they use."""

from conformance.protocols.storage_write.records.enums import Framing, StreamType, StreamView
from conformance.protocols.storage_write.records.steps import (
    DEFAULT,
    SHORT_DEFAULT,
    CommitStreams,
    CreateWriteStream,
    FinalizeStream,
    FlushStream,
    GetWriteStream,
    ReadWritten,
    RowsAppend,
    StorageWriteStep,
    WriteRows,
)

__all__ = [
    "DEFAULT",
    "SHORT_DEFAULT",
    "CommitStreams",
    "CreateWriteStream",
    "FinalizeStream",
    "FlushStream",
    "Framing",
    "GetWriteStream",
    "ReadWritten",
    "RowsAppend",
    "StorageWriteStep",
    "StreamType",
    "StreamView",
    "WriteRows",
]
