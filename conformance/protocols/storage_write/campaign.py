"""The Storage Write API in a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import pyarrow as pa

from conformance.campaign.plugin import CampaignPlugin, Pair
from conformance.protocols.storage_write.contract.view import WriteView
from conformance.protocols.storage_write.records import CreateWriteStream, StreamType, WriteRows
from conformance.records import ROW_ID, Case

_FORMS: Final = ("ahead", "names", "schemas")
"""Ways in which requests follow each other on a connection."""
_OPTIONS: Final = (*(kind.lower() for kind in StreamType), *_FORMS)


def _messages(view: WriteView) -> list[bytes]:
    """The schemas: in which batches rows come, and in which order, a server may choose anew."""
    return [schema.data for schema in view.schemas]


def _tables(view: WriteView) -> Mapping[str, pa.Table]:
    """The rows of each read, in the order of the case's table."""
    return {f"read {read.call}": read.rows.sort_by(ROW_ID) if read.rows.num_rows else read.rows for read in view.reads}


def _options(case: Case) -> list[str]:
    """The types of streams, and the forms of connections, that a history has."""
    streams = {step.type.lower() for step in case.steps if isinstance(step, CreateWriteStream)}
    writes = [step for step in case.steps if isinstance(step, WriteRows)]
    has = streams | {form for form in _FORMS if any(getattr(step, form) for step in writes)}
    return [f"{name}={'yes' if name in has else 'no'}" for name in _OPTIONS]


def _no_pairs(_case: Case) -> Iterable[Pair] | None:
    return None


def _none() -> Iterable[Pair]:
    return ()


PLUGIN: Final = CampaignPlugin(
    messages=_messages,
    tables=_tables,
    options=_options,
    drawn_options=dict.fromkeys(_OPTIONS, ("yes", "no")),
    pairs_met=_no_pairs,
    every_pair=_none,
)
