"""The arguments of a campaign as one value: it is sent to executors, and its digest is the run's name.

The same arguments, suite and target file give the same :attr:`CampaignJob.run_id`; a campaign that is started again
therefore finds its committed ranges. Settings that cannot change a verdict (the number of cores, the size of a
range) are not part of the digest.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from conformance.campaign.plugin import CampaignPlugin
from conformance.generate.plugin import BASE, GeneratePlugin
from conformance.protocol import DEFAULT_PROTOCOL, plugin, plugins
from conformance.records import to_json
from conformance.targets.spec import TargetSpec

__all__ = ["ARROW", "DECODERS", "FAMILY", "MUTATED", "CampaignJob", "Range", "family_of", "history_profiles",
           "is_served", "server_profiles"]  # fmt: skip

DECODERS: Final = ("pyarrow.slots", "arro3.stream", "fastavro.rows")
"""The decoders that read every case by default: two of Arrow that share no code, and one of Avro."""

ARROW: Final = "arrow"
"""The profile of cases that are tables alone."""
FAMILY: Final = 16
"""The default size of families of such cases."""


def family_of(profile: str) -> int:
    """The default size of families; it is 1 for servers, which make a table for every case anyway."""
    return FAMILY if profile == ARROW else 1


def server_profiles() -> tuple[str, ...]:
    """The profiles of cases that are requests to a server, one for each protocol with campaigns."""
    return tuple(plugin(GeneratePlugin, name).run_profile for name in plugins(CampaignPlugin))


@functools.cache
def history_profiles() -> Mapping[str, str]:
    """The profiles whose cases are drawn histories of calls, and the profiles of the servers that they are put to."""
    drawn = (plugin(GeneratePlugin, name) for name in plugins(CampaignPlugin))
    return MappingProxyType({one.scenario_word: one.run_profile for one in drawn if one.scenario_word})


def is_served(profile: str) -> bool:
    """True if each case of a profile is put to a server."""
    return profile in server_profiles() or profile in history_profiles()


MUTATED: Final = "mutated"
"""The profile whose cases are mutated bytes (:mod:`conformance.campaign.mutated`), and the name of its target."""


@dataclasses.dataclass(frozen=True, slots=True)
class CampaignJob:
    """The arguments of a campaign.

    ``cases`` are drawn from ``seed``, indices 0 to ``cases - 1``. The last ``guided`` of them are drawn with the
    weights of :mod:`conformance.campaign.guidance` after the others were judged. They come in families of ``family``
    cases that share their columns (:mod:`conformance.generate.families`). ``clauses`` are the ids judged, in
    register order. ``sample`` in a million passing exchanges are stored in addition to the failing ones; an exchange
    of more than ``inline`` bytes is stored in a file of its own. All cases are in one ``form``
    (:mod:`conformance.generate.forms`).
    """

    spec: TargetSpec
    cases: int
    seed: int
    profile: str
    clauses: tuple[str, ...]
    readers: tuple[str, ...] = DECODERS
    guided: int = 0
    family: int = 1
    sample: int = 1000
    inline: int = 1 << 20
    multiplier: float = 1.0
    suite: str = ""
    version: str = ""
    form: str = BASE

    @property
    def run_id(self) -> str:
        """Twelve hexadecimal digits that name the run: a digest of everything that can change a verdict or a file."""
        spec = to_json(dataclasses.replace(self.spec, file="", expected_failures=()))
        reported: dict[str, Any] = {
            field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "spec"
        }
        if self.form == BASE:  # so that campaigns from before there were forms go on
            del reported["form"]
        text = json.dumps([spec, reported], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def of_version(self, version: str) -> CampaignJob:
        """The same job for a target that reports this version."""
        return dataclasses.replace(self, version=version)

    @property
    def shares_endpoint(self) -> bool:
        """True if every executor talks to one server that runs already."""
        return self.spec.serves and self.spec.endpoint is not None

    @property
    def protocol(self) -> str:
        """The protocol of the cases."""
        for name, one in plugins(GeneratePlugin).items():
            if self.profile in (one.run_profile, one.scenario_word):
                return name
        return DEFAULT_PROTOCOL


@dataclasses.dataclass(frozen=True, slots=True)
class Range:
    """Case indices ``first`` to ``last`` (excluded), committed together; ``number`` counts the ranges of the run."""

    number: int
    first: int
    last: int
