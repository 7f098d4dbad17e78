"""The clauses that a correct answer to a case shows: those that the target owed where something failed.

A broken answer hides clauses: without rows there is nothing in which a value could be wrong. The reference answers the
same case in this process, and the clauses that it shows are those that the target left unjudged. The reference is
asked only about cases on which something failed, so a target without failures costs nothing more.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.judge import Judge
from conformance.contract.view import View
from conformance.contract.viewing import view_of
from conformance.generate import materialise
from conformance.protocol import plugin
from conformance.readers.plugin import reads_of
from conformance.records import Case, Outcome, Reading, ReadingOutcome, Verdict
from conformance.targets import Target, open_target
from conformance.targets.spec import SerializerSpec, TargetKind, TargetSpec

if TYPE_CHECKING:
    from conformance.reference.plugin import ReferencePlugin

__all__ = ["Owed", "lasting_target", "reference_target"]

_CALLED: Final = frozenset(
    {Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED, Outcome.ERROR, Outcome.DEPENDENCY_FAILED}
)
"""Outcomes that may have kept other clauses of the case from being judged."""
_UNJUDGED: Final = frozenset({Outcome.UNSUPPORTED, Outcome.UNTESTABLE, Outcome.DEPENDENCY_FAILED, Outcome.ERROR})


@contextmanager
def reference_target(
    kind: str = TargetKind.SERVER, *, mutant: str | None = None, scenario: str | None = None
) -> Iterator[Target]:
    """The reference in this process as a target of ``kind``; a server may have the deviation of a mutant, or be that of
    a ``scenario`` of other integration tests.
    """
    spec = TargetSpec("reference", kind)
    if spec.serves:
        spoken = _reference(spec.protocol)
        if scenario is None:
            made = spoken.target(mutant)
        else:
            assert spoken.played is not None, "the protocol has scenarios"
            made = spoken.played(scenario)
        with closing(made) as found:
            yield found
        return
    place = SerializerSpec("conformance.reference.serializer:REFERENCE")
    with open_target(TargetSpec("reference", TargetKind.SERIALIZER, serializer=place), alone=True) as target:
        yield target


@contextmanager
def lasting_target(protocol: str, mutant: str | None = None) -> Iterator[Target]:
    """As :func:`reference_target` for a server that listens and outlives the cases, by the clock of the machine.

    It shows what a server in the process of the driver does not: calls that meet, their times, and what a fault makes
    of earlier cases.
    """
    with _reference(protocol).listening(mutant) as spec, open_target(spec, alone=True) as target:
        yield target


def _reference(protocol: str) -> ReferencePlugin:
    from conformance.reference.plugin import ReferencePlugin  # noqa: PLC0415  # a serializer does not need gRPC

    return plugin(ReferencePlugin, protocol)


class Owed:
    """Answers which of ``clauses`` a case owed and did not show; several threads may ask.

    ``kind`` is the kind of the target under test: a program is handed tables, as a serializer is. With ``readers``,
    clauses on readings are owed too. The reference starts at the first question and ends with :meth:`close`.
    """

    def __init__(self, clauses: Iterable[Clause], kind: str, *, readers: bool = False) -> None:
        self._judge: Final = Judge(clauses)
        self._kind: Final = kind
        self._readers: Final = readers
        self._lock: Final = threading.Lock()
        self._stack: Final = ExitStack()
        self._target: Target | None = None

    def missing(
        self, case: Case, table: pa.Table | None, verdicts: Iterable[Verdict], *, stopped: bool = False
    ) -> tuple[str, ...]:
        """The clauses without a judgement on ``case`` that a correct answer shows, in the order of the clauses.

        It is empty unless something failed on the case, the case could not be put to the target, or the driver
        ``stopped`` before its end.
        """
        found = list(verdicts)
        judged = {one.clause for one in found if one.outcome not in _UNJUDGED}
        called = stopped or any(one.outcome in _CALLED for one in found)
        if not called and (judged or all(one.outcome is not Outcome.UNTESTABLE for one in found)):
            return ()
        shown = self._shown(case, materialise(case.table) if table is None else table)
        return tuple(clause.id for clause in self._judge.clauses if clause.id in shown and clause.id not in judged)

    def close(self) -> None:
        """End the reference."""
        self._stack.close()

    def _shown(self, case: Case, table: pa.Table) -> frozenset[str]:
        """The clauses that pass on the reference's answer to ``case``."""
        with self._lock:
            if self._target is None:
                self._target = self._stack.enter_context(reference_target(self._kind))
            # An isolated case needs a server of its own only where a server can be harmed.
            exchange = self._target.drive(dataclasses.replace(case, isolated=False), table)
        view = view_of(case, exchange, table)
        if self._readers:
            view.compare_readings(lambda: _readings(view))
        judged = self._judge(view)
        return frozenset(judged.passed)


def _readings(view: View) -> Iterator[Reading]:
    """The readings of two readers that agree, of everything that readers would read."""
    for label in {read.label for read in reads_of(view.case, view.exchange, view)}:
        for reader in ("one", "other"):
            yield Reading(reader, view.case.id, label, ReadingOutcome.TABLE, camp="one")
