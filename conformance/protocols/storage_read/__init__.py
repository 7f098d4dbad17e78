"""The BigQuery Storage Read API, as each layer of the suite needs to know it."""

from typing import Final

TITLE: Final = "Storage Read"
