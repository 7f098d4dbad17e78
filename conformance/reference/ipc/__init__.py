"""The reference for whole IPC streams, files and tensors: a writer of our own, and everything that is tried on readers.

Nothing here reads: what the writer makes is judged by :mod:`conformance.wire` and by other people's readers.
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
