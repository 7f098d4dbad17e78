"""The conformance suite for the BigQuery Storage Read API and the Arrow bytes under it."""

__version__ = "0.1.0"
