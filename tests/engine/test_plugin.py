"""What the engine says of a protocol that brings less than others."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.engine.plugin import NOT_RECORDED, no_scenarios
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import DEFAULT_PROTOCOL, plugin
from conformance.targets.spec import TargetSpec, kind_of
from tests.engine.samples import sample_call

SPEC = TargetSpec("mine", kind_of(DEFAULT_PROTOCOL))


def test_a_protocol_without_a_word_for_scenarios_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason ends a sentence on the target."""
    bare = dataclasses.replace(plugin(GeneratePlugin, DEFAULT_PROTOCOL), scenario_word="")

    assert no_scenarios(SPEC) == ""
    monkeypatch.setattr("conformance.engine.plugin.plugin", lambda _kind, _protocol: bare)
    assert no_scenarios(SPEC) == "a server of storage-read, which has no scenarios"


def test_calls_that_no_proxy_records_belong_to_nothing() -> None:
    """They make no steps, and no clause judges them."""
    assert list(NOT_RECORDED.groups([sample_call()])) == [("", "")]
    assert NOT_RECORDED.driven([sample_call()]) == ((), ())
    assert NOT_RECORDED.clauses == frozenset()
