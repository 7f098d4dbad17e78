"""The Storage Read API in the contract. The messages of a serializer count as its answers."""

from typing import Final

from conformance.contract.clause import PROFILES
from conformance.contract.plugin import ContractPlugin
from conformance.protocols.storage_read.contract.profiles import STORAGE_ROWS
from conformance.protocols.storage_read.contract.serverview import ServerView

PLUGIN: Final = ContractPlugin(
    view=ServerView,
    profile=PROFILES[0],
    core="of Storage Read, sessions, whole and resumed reads, several streams and refusals",
    rows=STORAGE_ROWS,
    has_types=True,
)
