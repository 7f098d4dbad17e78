"""The Storage Write API in the engine."""
