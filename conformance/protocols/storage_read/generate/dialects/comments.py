"""Comments in and around a condition, and what an engine reads that does not know them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from conformance.protocols.storage_read.generate.dialects.terms import ReadingRefusedError, Row, Term
from conformance.records import BqType

__all__ = ["COMMENTED", "COMMENTS"]


def _hash(term: Term) -> Term:
    def meaning(row: Row, reading: str) -> Any:
        if reading == "hash-is-no-comment":
            raise ReadingRefusedError
        return term.meaning(row, reading)

    return Term(f"{term.sql} # AND FALSE\n", BqType.BOOL, meaning)


def _dashes(term: Term) -> Term:
    return Term(f"{term.sql} -- AND FALSE\n", BqType.BOOL, term.meaning)


def _stars(term: Term) -> Term:
    return Term(f"/* NOT */ {term.sql} /* AND FALSE */", BqType.BOOL, term.meaning)


def _exclamation(term: Term) -> Term:
    def meaning(row: Row, reading: str) -> Any:
        held = term.meaning(row, reading)
        return False if reading == "comment-is-executed" else held

    return Term(f"({term.sql}) /*! AND FALSE */", BqType.BOOL, meaning)


COMMENTS: Final = MappingProxyType({"": _dashes, " ": _stars, "#": _hash, "!": _exclamation})
"""The comments that a condition may have."""

COMMENTED: Final = MappingProxyType({"hash-is-no-comment": _hash, "comment-is-executed": _exclamation})
"""The comment that each reading concerns."""
