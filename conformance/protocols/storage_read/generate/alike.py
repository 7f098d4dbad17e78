"""A session that is like another one of a scenario in all but one field of its request, which a cache may confuse."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any, Final

from conformance.generate.choices import Choices, one_in
from conformance.protocols.storage_read.generate.requests import draw_selection
from conformance.records import AppendRows, Column, CreateSession, ReadRows, Step

__all__ = ["perhaps_put_alike"]

RATE: Final = 4
"""One in so many scenarios has such a session."""


def perhaps_put_alike(
    choices: Choices, steps: list[Step], label: str, columns: Sequence[Column], not_offered: Collection[str]
) -> None:
    """In one scenario of :data:`RATE`, insert a session ``n`` behind the one with ``label``, and a read of it later."""
    if not one_in(choices, RATE):
        return
    made = next(at for at, step in enumerate(steps) if isinstance(step, CreateSession) and step.label == label)
    session = steps[made]
    assert isinstance(session, CreateSession)
    first, last = made + 1, len(steps)
    if session.row_restriction and not session.snapshot:  # its rows are those of the other before the next append
        last = next((at for at in range(first, last) if isinstance(steps[at], AppendRows)), last)
    place = _apart(steps, choices.integer(first, last))
    change = choices.pick(_changes(choices, session, columns, not_offered))
    steps.insert(place, dataclasses.replace(session, label="n", **change))
    steps.insert(_apart(steps, choices.integer(place + 1, len(steps))), ReadRows(session="n"))


def _changes(
    choices: Choices, session: CreateSession, columns: Sequence[Column], not_offered: Collection[str]
) -> list[dict[str, Any]]:
    """Return the changes of one field that the target can be asked for."""
    changes: list[dict[str, Any]] = [
        {"trace_id": "alike"},
        {"max_stream_count": 3 if session.max_stream_count == 1 else 1},
    ]
    if "projection" not in not_offered:
        changes.append({"selected_fields": draw_selection(choices, columns)})
    if "buffer-compression" not in not_offered and not session.response_compression:
        changes.append({"buffer_compression": "" if session.buffer_compression else "ZSTD"})
    if "response-compression" not in not_offered and not session.buffer_compression:
        changes.append({"response_compression": "" if session.response_compression else "LZ4"})
    return changes


def _apart(steps: Sequence[Step], place: int) -> int:
    """Return the first place from ``place`` on that is not between two reads at the same time."""
    while place < len(steps) and isinstance(step := steps[place], ReadRows) and step.alongside:
        place += 1
    return place
