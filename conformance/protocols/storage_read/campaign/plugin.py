"""The Storage Read API in a campaign."""

from typing import Final

from conformance.campaign.plugin import CampaignPlugin
from conformance.contract.comparing.received import compared
from conformance.protocols.storage_read.campaign.coverage import DRAWN, every_pair, options, pairs_met
from conformance.protocols.storage_read.contract.view import StorageView
from conformance.protocols.storage_read.readers.held import held_sessions


def _messages(view: StorageView) -> list[bytes]:
    arrow = [schema.data for schema in view.schemas] + [bytes(batch.data) for batch in view.batches]
    return arrow + [schema.data for schema in view.avro_schemas] + [bytes(rows.data) for rows in view.avro_rows]


def _has_exact_rows(view: StorageView) -> bool:
    found = compared(view)
    return bool(found) and all(one.clean and one.got.num_columns == view.table.num_columns for one in found)


PLUGIN: Final = CampaignPlugin(
    messages=_messages,
    tables=held_sessions,
    has_exact_rows=_has_exact_rows,
    options=options,
    drawn_options=DRAWN,
    pairs_met=pairs_met,
    every_pair=every_pair,
)
