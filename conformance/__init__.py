"""The conformance suite for the BigQuery Storage Read API and the Arrow bytes under it."""

__version__ = "0.2.0"
