"""The Storage Write API in the engine."""

from typing import Final

from conformance.engine.plugin import EnginePlugin

PLUGIN: Final = EnginePlugin(has_known_rows=False, draws_cases=False)
