"""The steps of cases of Arrow Flight."""

from typing import Final, get_args

from conformance.records import FlightSqlStep, FlightStep, Meanwhile, RecordsPlugin
from conformance.records.flight import KNOWN, SCENARIO

PLUGIN: Final = RecordsPlugin((*get_args(FlightStep), *get_args(FlightSqlStep), Meanwhile), described=(KNOWN, SCENARIO))
