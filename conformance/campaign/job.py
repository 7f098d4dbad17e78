"""The arguments of a campaign as one value: it is sent to executors, and its digest is the run's name.

The same arguments, suite and target file give the same :attr:`CampaignJob.run_id`; a campaign that is started again
therefore finds its committed ranges. Settings that cannot change a verdict (the number of cores, the size of a
range) are not part of the digest.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from conformance.generate.flighthistories import HISTORY
from conformance.generate.scenarios import SCENARIO
from conformance.records import ProtocolName, to_json
from conformance.targets.spec import TargetSpec

__all__ = ["DECODERS", "FAMILIES", "FLIGHT", "HISTORIES", "MUTATED", "SERVERS", "CampaignJob", "Range"]

FLIGHT: Final = "flight"
"""The profile of cases of Arrow Flight."""

DECODERS: Final = ("pyarrow.slots", "arro3.stream")
"""The decoders that read every case by default: two implementations that share no code."""

FAMILIES: Final[Mapping[str, int]] = MappingProxyType({"arrow": 16, "server": 1, FLIGHT: 1, SCENARIO: 1, HISTORY: 1})
"""The default size of families by profile; it is 1 for a server, which makes a table for every case anyway."""

HISTORIES: Final[Mapping[str, str]] = MappingProxyType({SCENARIO: "server", HISTORY: FLIGHT})
"""The profiles whose cases are drawn histories of calls, and the profiles of the servers that they are put to."""

SERVERS: Final = ("server", FLIGHT, *HISTORIES)
"""The profiles whose cases are put to a server each."""

MUTATED: Final = "mutated"
"""The profile whose cases are mutated bytes (:mod:`conformance.campaign.mutated`), and the name of its target."""


@dataclasses.dataclass(frozen=True, slots=True)
class CampaignJob:
    """The arguments of a campaign.

    ``cases`` are drawn from ``seed``, indices 0 to ``cases - 1``. The last ``guided`` of them are drawn with the
    weights of :mod:`conformance.campaign.guidance` after the others were judged. They come in families of ``family``
    cases that share their columns (:mod:`conformance.generate.families`). ``clauses`` are the ids judged, in
    register order. ``sample`` in a million passing exchanges are stored in addition to the failing ones; an exchange
    of more than ``inline`` bytes is stored in a file of its own.
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

    @property
    def run_id(self) -> str:
        """Twelve hexadecimal digits that name the run: a digest of everything that can change a verdict or a file."""
        spec = to_json(dataclasses.replace(self.spec, file="", expected_failures=()))
        reported: dict[str, Any] = {
            field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "spec"
        }
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
    def protocol(self) -> ProtocolName:
        """The protocol of the cases."""
        return ProtocolName.FLIGHT if self.profile in (FLIGHT, HISTORY) else ProtocolName.STORAGE_READ


@dataclasses.dataclass(frozen=True, slots=True)
class Range:
    """Case indices ``first`` to ``last`` (excluded), committed together; ``number`` counts the ranges of the run."""

    number: int
    first: int
    last: int
