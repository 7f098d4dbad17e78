"""What a campaign knows of a protocol: what two runs of a case have in common, and what its cases cover."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import pyarrow as pa

from conformance.contract.view import View
from conformance.records import Case

__all__ = ["CampaignPlugin", "Pair"]

Pair: TypeAlias = tuple[str, str]
"""Two options, or two features of a scenario, as ``NAME=VALUE``."""


def _never(_view: View) -> bool:
    return False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CampaignPlugin:
    """A protocol in a campaign.

    ``messages`` gives the bytes of schemas and rows in an exchange, by the view of the protocol, without names that a
    server chooses at random, and ``tables`` the rows that came, by a label; neither has what a second run may answer in
    another way. ``has_exact_rows`` is True if
    it is known that these are the rows of the case, so that they need not be compared.

    ``options`` gives those of a case as ``NAME=VALUE``, and ``drawn_options`` the values of each that are drawn;
    ``never_together`` are pairs of them that no case has. ``pairs_met`` gives the pairs of features that meet in a
    scenario, None of any other case, and ``every_pair`` all pairs that can meet in one.
    """

    LAYER: ClassVar[str] = "campaign"

    messages: Callable[[Any], list[bytes]]
    tables: Callable[[Any], Mapping[str, pa.Table]]
    has_exact_rows: Callable[[Any], bool] = _never
    options: Callable[[Case], list[str]]
    drawn_options: Mapping[str, Sequence[str]]
    never_together: frozenset[Pair] = frozenset()
    pairs_met: Callable[[Case], Iterable[Pair] | None]
    every_pair: Callable[[], Iterable[Pair]]
