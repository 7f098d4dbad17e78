"""Cases of the toy protocol are written by hand: none are drawn."""

from typing import Final

from conformance.generate.plugin import GeneratePlugin

PLUGIN: Final = GeneratePlugin(run_profile="toy")
