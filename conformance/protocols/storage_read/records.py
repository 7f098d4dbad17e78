"""The steps of cases of the Storage Read API."""

from typing import Final, get_args

from conformance.records import RecordsPlugin
from conformance.records.steps import StorageReadStep

PLUGIN: Final = RecordsPlugin(get_args(StorageReadStep))
