"""The Storage Read API in the contract. The messages of a serializer count as its answers."""

from typing import Final

from conformance.contract.clause import PROFILES
from conformance.contract.plugin import ContractPlugin
from conformance.contract.queryview import StorageView
from conformance.protocols.storage_read.contract.profiles import STORAGE_ROWS

PLUGIN: Final = ContractPlugin(
    view=StorageView,
    profile=PROFILES[0],
    core="of Storage Read, sessions, whole and resumed reads, several streams and refusals",
    rows=STORAGE_ROWS,
    has_types=True,
)
