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
from conformance.protocol import DEFAULT_PROTOCOL, NotInLayerError, Plugin, merged, plugin, plugins, protocol_names
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

    monkeypatch.setattr(importlib.import_module("conformance.protocols.flight.contract.plugin"), "PLUGIN", 1)
    with pytest.raises(TypeError, match=r"flight\.contract\.plugin\.PLUGIN is a int, expected a Other"):
        plugin(Other, "flight")


def test_a_layer_without_a_module_is_said_in_a_sentence() -> None:
    """Commands print it and end with status 2; layers that ask all protocols leave such a one out."""

    @dataclasses.dataclass
    class Nowhere:
        LAYER: ClassVar[str] = "nowhere"

    with pytest.raises(NotInLayerError, match="flight takes no part in this: its folder has no module 'nowhere'"):
        plugin(Nowhere, "flight")
    assert plugins(Nowhere) == {}


def test_two_protocols_share_a_name_only_for_the_same_thing() -> None:
    """Otherwise what comes second would replace what was first, without a word."""
    shared, own = object(), object()

    assert merged("step", {"a": [("x", shared)], "b": [("x", shared), ("y", own)]}) == {"x": shared, "y": own}
    with pytest.raises(ValueError, match="b: another protocol has a step called 'x'"):
        merged("step", {"a": [("x", shared)], "b": [("x", own)]})
