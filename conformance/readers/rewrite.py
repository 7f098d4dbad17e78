"""The documented change of a type by a reader: without the records, so that processes of libraries start quickly."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Rewrite"]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A documented change of type: ``before`` is the type that the target sent, ``after`` the type that the reader
    returns.

    Both have pyarrow's spelling, a list without its item type: ``string_view``, ``large_list``.
    """

    before: str
    after: str
    source: str
