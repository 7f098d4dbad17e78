"""What a target offers, and so which cases can be put to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from conformance.contract.offers import asked
from conformance.engine.lack import Lack, Untold
from conformance.engine.plugin import EnginePlugin
from conformance.protocol import DEFAULT_PROTOCOL, plugin
from conformance.records import Case, types_in
from conformance.targets.handing import NO_PLACE, place_of
from conformance.targets.spec import TargetSpec

__all__ = ["Offer"]

SPOKEN: Final = (DEFAULT_PROTOCOL,)
"""The protocol that every kind of target speaks."""


@dataclasses.dataclass(frozen=True, slots=True)
class Offer:
    """The capabilities that a target declares, the profiles that it does not offer, and the protocols that it speaks.

    A serializer takes no ``requests``: only cases that read a whole table can be put to it. ``untold`` is what the
    target file does not tell, the gravest first.

    >>> from conformance.records import SplitStream, Table
    >>> case = Case("a.b", "A split", Table((), rows=()), steps=(SplitStream(),))
    >>> [lack.reason for lack in Offer(not_offered=("splits",)).lacks(case)]
    ['the target does not offer splits']
    """

    capabilities: Collection[str] = ()
    not_offered: Collection[str] = ()
    spoken: Sequence[str] = SPOKEN
    requests: bool = True
    untold: Sequence[Untold] = ()

    @classmethod
    def of(cls, spec: TargetSpec, capabilities: Collection[str] = (), *, requests: bool = True) -> Offer:
        """What the target of a file offers; a program declares its ``capabilities`` itself."""
        untold = plugin(EnginePlugin, spec.protocol).untold(spec)
        return cls(capabilities, spec.not_offered, (spec.protocol,), requests=requests, untold=untold)

    def lacks(self, case: Case) -> tuple[Lack, ...]:
        """Everything that keeps the case from being put to the target."""
        return tuple(self._lacks(case))

    def _lacks(self, case: Case) -> Iterator[Lack]:
        if case.protocol not in self.spoken:
            spoken = " and ".join(self.spoken)
            yield Lack(case.protocol, f"this case speaks {case.protocol}; the target {spoken}")
        elif not self.requests and place_of(case) is None:
            yield Lack("requests", NO_PLACE)
        else:
            yield from [one.lack for one in self.untold if one.lacked_by(case)][:1]
        for need in sorted(set(case.needs).difference(self.capabilities)):
            yield Lack(need, f"the target does not declare {need}", "add it to the target's capabilities")
        for profile in asked(case):
            if profile in self.not_offered:
                yield Lack(profile, f"the target does not offer {profile}", "remove it from not_offered")
        for kind in sorted(types_in(case.table.columns).intersection(self.not_offered)):
            yield Lack(kind, f"the target does not offer columns of type {kind}", "remove it from not_offered")
