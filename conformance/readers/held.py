"""What the recorded bytes of each whole read hold, by the suite's own decoding: what a reader is measured against.

A reader is asked to read what the target sent. Whether that is what the case holds is for the clauses on rows and
values, with all that they leave open (how a server writes JSON, what stands for a missing bound): compared with the
case itself, every reader would repeat each of their findings.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from conformance.contract.compared import serialized
from conformance.contract.expected import expected_table, has_columns
from conformance.contract.subjects import created, whole_sessions
from conformance.contract.view import View
from conformance.readers.whole import SERIALIZER

__all__ = ["held_tables"]


def held_tables(view: View) -> Mapping[str, pa.Table]:
    """The rows in the bytes of each whole read, by the label that its readings carry.

    A whole read of which some batch cannot be decoded is left out: the clauses on framing and structure say why,
    and nobody knows what a reader should make of it.
    """
    held: dict[str, pa.Table] = {one.session.step.label: one.got for one in whole_sessions(view)}
    for session in created(view):
        if not session.session.streams and has_columns(session):
            held[session.step.label] = expected_table(view, session).slice(0, 0)
    for one in serialized(view):
        held[SERIALIZER] = one.got
    return held
