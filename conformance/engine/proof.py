"""Proof that the suite can fail: every mutant is killed, by the clause that it was made for and by no undeclared one.

Three gates. A mutant that none of its intended clauses fails *survives*. A clause that no mutant is made for is
*unproven*. A mutant on which a clause fails that it does not declare is *over-broad*: either the clause asks for more
than its id says, or the mutant deviates twice. Beside them the other half: a *legal variation* may fail nothing.

A lie about bytes is told by a serializer in this process; a lie about behaviour by a server, which is asked every case.
A lie about bytes that only a server can show (rows lost, columns swapped) is told by a server too.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.judge import judge
from conformance.generate import materialise
from conformance.records import Call, Case, Exchange, Outcome, Verdict
from conformance.reference.mutants import Mutant
from conformance.reference.serializer import Serializer
from conformance.reference.server import ReferenceServer
from conformance.targets import open_target
from conformance.targets.handing import batches_of, place_of
from conformance.targets.spec import Endpoint, TargetKind, TargetSpec

__all__ = ["Stand", "Trial", "Tried", "by_bytes", "by_server", "try_mutant"]

Failures = Mapping[str, tuple[str, ...]]
"""Clause id to the ids of the cases on which it failed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tried:
    """One case with its rows, made once for all mutants."""

    case: Case
    table: pa.Table


@dataclasses.dataclass(frozen=True, slots=True)
class Trial:
    """What became of one mutant (or legal variation): the clauses that failed, and where."""

    name: str
    failures: Failures
    kills: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def survived(self) -> tuple[str, ...]:
        """Intended clauses that did not fail."""
        return tuple(clause for clause in self.kills if clause not in self.failures)

    @property
    def surplus(self) -> tuple[str, ...]:
        """Clauses that failed and are not declared."""
        declared = (*self.kills, *self.also)
        return tuple(
            clause
            for clause in sorted(self.failures)
            if not any(fnmatch.fnmatchcase(clause, pattern) for pattern in declared)
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Stand:
    """What mutants are tried on: the cases, made up once, and the clauses that judge.

    ``pure`` are cases that a serializer can be asked; ``served`` those that a server is asked.
    """

    pure: tuple[Tried, ...]
    served: tuple[Tried, ...]
    clauses: tuple[Clause, ...]

    @classmethod
    def of(cls, cases: Iterable[Case], clauses: Iterable[Clause]) -> Stand:
        """The stand for those cases."""
        tried = tuple(Tried(case, materialise(case.table)) for case in cases)
        return cls(tuple(it for it in tried if place_of(it.case) is not None), tried, tuple(clauses))


def _failed(verdicts: Sequence[Verdict], into: dict[str, tuple[str, ...]]) -> None:
    for verdict in verdicts:
        if verdict.outcome is Outcome.FAIL:
            into[verdict.clause] = (*into.get(verdict.clause, ()), verdict.case_id)


def by_bytes(stand: Stand, serializer: Serializer) -> Failures:
    """The clauses that fail on what ``serializer`` makes of the pure cases."""
    failures: dict[str, tuple[str, ...]] = {}
    for tried in stand.pure:
        exchange = _serialized(tried, serializer)
        _failed(judge(tried.case, exchange, tried.table, clauses=stand.clauses), failures)
    return failures


def _serialized(tried: Tried, serializer: Serializer) -> Exchange:
    place = place_of(tried.case)
    assert place is not None, "only pure cases are serialized"
    schema = serializer.schema(tried.table.schema)
    calls = [Call(place.session, "schema", "SerializeSchema", b"", (schema,))]
    for number, batch in enumerate(batches_of(tried.table)):
        message = serializer.batch(batch)
        calls.append(Call(place.read, f"batch/{number}", "SerializeBatch", b"", (message,)))
    return Exchange(tried.case.id, "mutant", calls=tuple(calls))


def by_server(stand: Stand, mutant: str | None) -> Failures:
    """The clauses that fail on what the reference server, telling that lie, answers to the served cases."""
    failures: dict[str, tuple[str, ...]] = {}
    with ReferenceServer(mutant=mutant) as server:
        endpoint = Endpoint(grpc=server.grpc_endpoint, rest=f"http://{server.rest_endpoint}")
        spec = TargetSpec(name="mutant", kind=TargetKind.SERVER, endpoint=endpoint)
        with open_target(spec) as target:
            for tried in stand.served:
                # A server of its own is a process of its own; the lies tried here need none.
                case = dataclasses.replace(tried.case, isolated=False)
                exchange = target.drive(case, tried.table)
                _failed(judge(case, exchange, tried.table, clauses=stand.clauses), failures)
    return failures


def try_mutant(stand: Stand, mutant: Mutant) -> Trial:
    """Tell one lie and see which clauses notice."""
    failures: dict[str, tuple[str, ...]] = {}
    if mutant.serializer is not None:
        failures.update(by_bytes(stand, mutant.serializer))
    if mutant.service is not None or any(clause not in failures for clause in mutant.kills):
        for clause, cases in by_server(stand, mutant.name).items():
            failures[clause] = (*failures.get(clause, ()), *cases)
    return Trial(mutant.name, failures, mutant.kills, tuple(mutant.also))
