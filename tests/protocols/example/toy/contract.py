"""The toy protocol in the contract: its clauses are in :mod:`.chapters`."""

from typing import Final

from conformance.contract.plugin import ContractPlugin

PLUGIN: Final = ContractPlugin(profile="toy", core="of Toy, its one method")
