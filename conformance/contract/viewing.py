"""The view of an exchange, by its protocol."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from conformance.contract.plugin import ContractPlugin
from conformance.contract.view import View
from conformance.protocol import plugin
from conformance.records import Case, Exchange, Reading

__all__ = ["profile_of", "view_of"]


def view_of(case: Case, exchange: Exchange, table: pa.Table, readings: Iterable[Reading] = ()) -> View:
    """The exchange as the clauses of its protocol see it."""
    return plugin(ContractPlugin, exchange.protocol).view(case, exchange, table, readings)


def profile_of(protocol: str) -> str:
    """The profile whose clauses judge exchanges of a protocol."""
    return plugin(ContractPlugin, protocol).profile
