"""What the command ``campaign`` refuses before it starts anything."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import pytest
from click import UsageError

from conformance.cli.campaign import _check_form, _profile
from conformance.protocol import DEFAULT_PROTOCOL, NotInLayerError
from conformance.targets.spec import TargetSpec, kind_of

SPEC = TargetSpec("mine", kind_of(DEFAULT_PROTOCOL))


@dataclasses.dataclass(frozen=True)
class Nowhere:
    """What a layer would know of a protocol in which none takes part."""

    LAYER: ClassVar[str] = "nowhere"


def test_cases_that_have_no_such_form_are_refused() -> None:
    """Tables alone are in no format, and a protocol has the forms that it brings."""
    _check_form(SPEC, "server", "avro")
    _check_form(SPEC, "arrow", "arrow")

    with pytest.raises(UsageError, match="its cases have no such form"):
        _check_form(SPEC, "arrow", "avro")


def test_a_protocol_without_campaigns_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names the module that its folder would need."""
    assert _profile(SPEC, None, scenarios=False) == "server"

    monkeypatch.setattr("conformance.cli.campaign.CampaignPlugin", Nowhere)
    with pytest.raises(NotInLayerError, match="storage-read takes no part in this: its folder has no module 'nowhere'"):
        _profile(SPEC, None, scenarios=False)
