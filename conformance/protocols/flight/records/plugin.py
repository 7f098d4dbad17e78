"""The steps of cases of Arrow Flight."""

from typing import Final, get_args

from conformance.protocols.flight.records import FlightSqlStep, FlightStep
from conformance.protocols.flight.records.calls import KNOWN, SCENARIO
from conformance.records import Meanwhile, RecordsPlugin

PLUGIN: Final = RecordsPlugin((*get_args(FlightStep), *get_args(FlightSqlStep), Meanwhile), described=(KNOWN, SCENARIO))
