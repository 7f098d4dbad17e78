"""Arrow Flight in a campaign."""

from typing import Final

from conformance.campaign.plugin import CampaignPlugin
from conformance.protocols.flight.campaign.coverage import DRAWN, NEVER_TOGETHER, every_pair, options, pairs_met
from conformance.protocols.flight.campaign.streams import messages, tables

PLUGIN: Final = CampaignPlugin(
    messages=messages,
    tables=tables,
    options=options,
    drawn_options=DRAWN,
    never_together=NEVER_TOGETHER,
    pairs_met=pairs_met,
    every_pair=every_pair,
)
