"""The steps of cases of the Storage Write API."""

from typing import Final, get_args

from conformance.protocols.storage_write.records.steps import StorageWriteStep
from conformance.records import RecordsPlugin

PLUGIN: Final = RecordsPlugin(get_args(StorageWriteStep))
