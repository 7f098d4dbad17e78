"""The Storage Write API in the contract."""

from typing import Final

from conformance.contract.plugin import ContractPlugin
from conformance.protocols.storage_write.contract import WRITE
from conformance.protocols.storage_write.contract.view import WriteView

PLUGIN: Final = ContractPlugin(
    view=WriteView,
    profile=WRITE[0],
    core="of Storage Write, streams, appends in Arrow, and what a reader sees of them",
)
