"""Arrow Flight in the contract."""

from typing import Final

from conformance.contract.flight import FLIGHT
from conformance.contract.flight.view import FlightView
from conformance.contract.flightprofiles import FLIGHT_ROWS
from conformance.contract.plugin import ContractPlugin

PLUGIN: Final = ContractPlugin(
    title="Arrow Flight",
    view=FlightView,
    profile=FLIGHT[0],
    core="of Flight, flights, infos, tickets and DoGet",
    rows=FLIGHT_ROWS,
)
