"""What the recorded bytes of each whole read hold, by the suite's own decoding: what a reader is measured against.

A reader is asked to read what the target sent. Whether that is what the case holds is for the clauses on rows and
values, with all that they leave open (how a server writes JSON, what stands for a missing bound): compared with the
case itself, every reader would repeat each of their findings.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from conformance.contract.comparing.expected import has_columns
from conformance.contract.comparing.received import serialized
from conformance.contract.comparing.sessions import whole_sessions
from conformance.contract.subjects import created
from conformance.contract.view import SessionView, View
from conformance.readers.fullread import SERIALIZER
from conformance.wire import DecodingError, schema_to_arrow

__all__ = ["held_tables"]


def held_tables(view: View) -> Mapping[str, pa.Table]:
    """The rows in the bytes of each whole read, by the label that its readings carry.

    A whole read of which some batch cannot be decoded is left out: the clauses on framing and structure say why,
    and nobody knows what a reader should make of it.
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
    return held


def _without_rows(session: SessionView) -> pa.Table | None:
    """No rows under the columns that the session describes, None where it describes none that can be had here."""
    if session.schema is None or session.schema.message.schema is None:
        return None
    try:
        return schema_to_arrow(session.schema.message.schema).empty_table()
    except DecodingError:
        return None
