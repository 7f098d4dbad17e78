"""Decode, with the suite's own decoder, the rows in the recorded bytes of each full read: the reference for readers.

A reader has to read what the target sent. The clauses on rows and values decide whether those are the rows of the
case, and know what the specification leaves open (how a server writes JSON, how a missing bound is encoded). If
readers were compared with the case itself, each would repeat every one of those findings.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from conformance.contract.comparing.received import serialized
from conformance.protocols.storage_read.contract.expected import has_columns
from conformance.protocols.storage_read.contract.queryview import QueriesView
from conformance.protocols.storage_read.contract.results import ResultRead, came, pages
from conformance.protocols.storage_read.contract.sessions import whole_sessions
from conformance.protocols.storage_read.contract.subjects import created
from conformance.protocols.storage_read.contract.view import SessionView
from conformance.readers.fullread import SERIALIZER
from conformance.wire import DecodingError, schema_to_arrow

__all__ = ["held_sessions"]


def held_sessions(view: QueriesView) -> Mapping[str, pa.Table]:
    """The rows of each session that was read as a whole, of each query's result, and of a serializer's messages.

    They are found by the labels of readings.
    """
    held: dict[str, pa.Table] = {}
    empty = [one for one in created(view) if not one.session.streams and has_columns(one)]
    for read in whole_sessions(view):
        if any(stream.batches for stream in read.reads):
            held[read.session.step.label] = read.got
        else:
            empty.append(read.session)
    for session in empty:
        nothing = _without_rows(session)
        if nothing is not None:
            held[session.step.label] = nothing
    for one in serialized(view):
        held[SERIALIZER] = one.got
    return held | _held_results(view)


def _held_results(view: QueriesView) -> dict[str, pa.Table]:
    """The rows of each query's result: those of the page, and behind it those of the stream of its job."""
    behind = {read.query.index: read.rows for read in reversed(came(view)) if _is_behind(read)}
    held = {}
    for page in pages(view):
        if not page.query.says("pageToken"):
            held[page.query.step.label] = page.rows
        elif (rows := behind.get(page.query.index)) is not None and rows.schema.equals(page.rows.schema):
            held[page.query.step.label] = pa.concat_tables([page.rows, rows])
    return held


def _is_behind(read: ResultRead) -> bool:
    """True for a read from the row behind the page, in the job's own location."""
    page = read.page
    return page is not None and read.read.request.offset == page.rows.num_rows and not read.read.step.location


def _without_rows(session: SessionView) -> pa.Table | None:
    """An empty table with the columns that the session describes; None if they are missing or cannot be decoded."""
    if session.schema is None or session.schema.message.schema is None:
        return None
    try:
        return schema_to_arrow(session.schema.message.schema).empty_table()
    except DecodingError:
        return None
