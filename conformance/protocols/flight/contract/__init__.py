"""Arrow Flight in the contract."""

from typing import Final

from conformance.contract.flight import FLIGHT
from conformance.contract.flight.view import FlightView
from conformance.contract.plugin import ContractPlugin
from conformance.protocols.flight.contract.profiles import FLIGHT_ROWS

PLUGIN: Final = ContractPlugin(
    title="Arrow Flight",
    view=FlightView,
    profile=FLIGHT[0],
    core="of Flight, flights, infos, tickets and DoGet",
    rows=FLIGHT_ROWS,
)
