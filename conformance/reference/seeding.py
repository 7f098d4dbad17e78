"""Statements that fill tables; none is taken yet."""

from __future__ import annotations

from typing import NoReturn

from conformance.reference.catalogue import Catalogue

__all__ = ["UnsupportedStatement", "insert_select"]


class UnsupportedStatement(Exception):
    """The statement is not one that the reference runs; the text says which it runs."""


def insert_select(text: str, _catalogue: Catalogue, _project: str, _default: str) -> NoReturn:
    """Refuse the statement."""
    raise UnsupportedStatement(f"expected rows by tabledata.insertAll, got the statement {text!r}")
