"""The reference for IPC streams, files and tensors: an independent writer, and all inputs that readers are tested with.

This package does not read: :mod:`conformance.wire` and other people's readers judge the writer's output.
"""

from __future__ import annotations

from conformance.reference.ipc.models import FileModel, StreamModel
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.samples import SAMPLES, Sample
from conformance.reference.ipc.writer import file_model, stream_model, write_file, write_stream

__all__ = [
    "SAMPLES",
    "FileModel",
    "Sample",
    "StreamModel",
    "WriterOptions",
    "file_model",
    "stream_model",
    "write_file",
    "write_stream",
]
