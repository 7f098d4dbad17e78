"""A protocol is a folder, and what a layer knows of it is the plugin in the module of that layer's name."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from typing import ClassVar

import pytest

import conformance.protocols
from conformance.campaign.plugin import CampaignPlugin
from conformance.contract.plugin import ContractPlugin
from conformance.engine.plugin import EnginePlugin
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import DEFAULT_PROTOCOL, Plugin, plugin, plugins, protocol_names
from conformance.readers.plugin import ReadersPlugin
from conformance.recording.plugin import RecordingPlugin
from conformance.records.plugin import RecordsPlugin
from conformance.reference.plugin import ReferencePlugin
from conformance.replay.plugin import ReplayPlugin
from conformance.targets.plugin import TargetsPlugin

KINDS: tuple[type[Plugin], ...] = (
    *(RecordsPlugin, ContractPlugin, GeneratePlugin, TargetsPlugin, ReadersPlugin),
    *(ReferencePlugin, EnginePlugin, RecordingPlugin, ReplayPlugin, CampaignPlugin),
)


def test_the_protocols_are_the_folders() -> None:
    """A name has hyphens where its folder has underscores."""
    folders = [module.name for module in pkgutil.iter_modules(conformance.protocols.__path__) if module.ispkg]

    assert protocol_names() == (
        DEFAULT_PROTOCOL,
        *sorted({name.replace("_", "-") for name in folders} - {DEFAULT_PROTOCOL}),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_protocol_takes_part_in_every_layer(kind: type[Plugin]) -> None:
    """Its module is called like the layer that owns the type of the plugin."""
    assert list(plugins(kind)) == list(protocol_names())
    assert kind.__module__ == f"conformance.{kind.LAYER}.plugin"


def test_a_protocol_that_does_not_exist_is_not_found() -> None:
    """The error names the module that would have to be there."""
    with pytest.raises(ModuleNotFoundError, match=r"conformance\.protocols\.carrier_pigeon"):
        plugin(ContractPlugin, "carrier-pigeon")


def test_a_plugin_of_another_type_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in the folder of a protocol is said by name when the plugin is first asked for."""

    @dataclasses.dataclass
    class Other:
        LAYER: ClassVar[str] = "contract"

    monkeypatch.setattr(importlib.import_module("conformance.protocols.flight.contract"), "PLUGIN", 1)
    with pytest.raises(TypeError, match=r"flight\.contract\.PLUGIN is a int, expected a Other"):
        plugin(Other, "flight")
