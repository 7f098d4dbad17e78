"""The BigQuery Storage Write API with rows in Arrow, as each layer of the suite needs to know it."""

from typing import Final

TITLE: Final = "the BigQuery Storage Write API"
"""Its name in a sentence."""
SOURCE: Final = "https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/storage.proto"
"""The definition of its calls."""
SEEDED: Final = True
"""Its servers get tables as ``[seed]`` of a target file says: empty ones, which the cases write to."""
