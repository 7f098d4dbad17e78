"""The profiles of a server of the Storage Read API besides its core.

The core is sessions, whole and resumed reads, several streams and refusals.
"""

from __future__ import annotations

from typing import Final

from conformance.contract.profilerow import ProfileRow
from conformance.records import AppendRows, ChangeColumns, CreateSession, SplitStream

__all__ = ["STORAGE_ROWS"]

STORAGE_ROWS: Final = (
    ProfileRow(
        "filters",
        "row_restriction: only rows that meet a condition are served",
        ("restriction.*", "errors.*-restriction-*", "projection.filter-*"),
        lambda step: isinstance(step, CreateSession) and bool(step.row_restriction or step.restriction_bytes),
    ),
    ProfileRow(
        "projection",
        "selected_fields: only some columns are served",
        ("projection.*", "errors.unknown-column-*"),
        lambda step: isinstance(step, CreateSession) and bool(step.selected_fields),
        unless=("projection.filter-*",),
    ),
    ProfileRow(
        "snapshots",
        "a session shows its table as it was at one instant, or at snapshot_time",
        (
            "snapshot.*",
            "columns.*",
            "errors.snapshot-*",
            "history.no-torn-*",
            "history.no-receding-*",
            "history.no-early-*",
        ),
        lambda step: (
            isinstance(step, AppendRows | ChangeColumns) or (isinstance(step, CreateSession) and bool(step.snapshot))
        ),
    ),
    ProfileRow(
        "splits",
        "SplitReadStream: a stream is divided while it is read",
        ("split.*", "errors.split-*"),
        lambda step: isinstance(step, SplitStream),
        unless=("split.request-is-not-*",),
    ),
    ProfileRow(
        "buffer-compression",
        "buffer_compression: LZ4 or ZSTD in Arrow buffers; google-cloud-bigquery 3.47.0 asks for LZ4_FRAME",
        ("compression.*", "buffers.*"),
        lambda step: isinstance(step, CreateSession) and bool(step.buffer_compression),
        unless=("compression.payload-*", "compression.both-*", "compression.none-without-asking"),
    ),
    ProfileRow(
        "response-compression",
        "response_compression_codec: LZ4 over the payload of a response",
        ("compression.payload-*", "compression.both-*"),
        lambda step: isinstance(step, CreateSession) and bool(step.response_compression),
    ),
)
