"""Arrow Flight in target files: the table ``[flight]``."""

from typing import Final

from conformance.protocols.flight.table.spec import FlightSpec
from conformance.targets.owntable import TablePlugin

PLUGIN: Final = TablePlugin(FlightSpec)
