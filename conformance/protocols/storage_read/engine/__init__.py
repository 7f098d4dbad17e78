"""The Storage Read API in the engine."""
