"""Arrow Flight in the contract."""

from typing import Final

from conformance.contract.plugin import ContractPlugin
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.profiles import FLIGHT_ROWS
from conformance.protocols.flight.contract.view import FlightView

PLUGIN: Final = ContractPlugin(
    view=FlightView,
    profile=FLIGHT[0],
    core="of Flight, flights, infos, tickets and DoGet",
    rows=FLIGHT_ROWS,
)
