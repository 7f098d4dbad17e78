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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.files import judge_bytes
from conformance.contract.judge import judge
from conformance.generate import materialise
from conformance.records import Call, Case, Exchange, Outcome, ValueProfile, Verdict
from conformance.reference.mutants import Mutant
from conformance.reference.samples import samples
from conformance.reference.serializer import Serializer
from conformance.reference.server import ReferenceServer
from conformance.targets import open_target
from conformance.targets.handing import batches_of, place_of
from conformance.targets.spec import Endpoint, TargetKind, TargetSpec

__all__ = ["Stand", "Trial", "Tried", "by_bytes", "by_server", "try_mutant"]

Failures = Mapping[str, tuple[str, ...]]
"""Clause id to the ids of the cases on which it failed."""


HEAVY_ROWS: Final = 2000
"""A case of more rows, of wide cells or with a server of its own is tried only on lies about what it was made for."""


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


def _heavy(case: Case) -> bool:
    recipe = case.table.recipe
    return case.isolated or (
        recipe is not None and (recipe.rows > HEAVY_ROWS or recipe.values is ValueProfile.WIDE or recipe.cell_bytes > 0)
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Stand:
    """What mutants are tried on: the light cases, made up once, the heavy ones as they are, and the clauses."""

    light: tuple[Tried, ...]
    heavy: tuple[Case, ...]
    clauses: tuple[Clause, ...]

    @classmethod
    def of(cls, cases: Iterable[Case], clauses: Iterable[Clause]) -> Stand:
        """The stand for those cases."""
        every = list(cases)
        light = tuple(Tried(case, materialise(case.table)) for case in every if not _heavy(case))
        return cls(light, tuple(case for case in every if _heavy(case)), tuple(clauses))

    def served(self, kills: Sequence[str]) -> Iterator[Tried]:
        """The light cases that every server can be asked, and the heavy ones for ``kills`` that no light one is for."""
        asked = [tried for tried in self.light if not tried.case.needs]
        yield from asked
        heavy = [clause for clause in kills if not any(_is_for(tried.case, clause) for tried in asked)]
        for case in self.heavy:
            if any(_is_for(case, clause) for clause in heavy):
                yield Tried(case, materialise(case.table))


def _is_for(case: Case, clause: str) -> bool:
    return any(fnmatch.fnmatchcase(clause, pattern) for pattern in case.clauses)


def _failed(verdicts: Sequence[Verdict], into: dict[str, tuple[str, ...]]) -> None:
    for verdict in verdicts:
        if verdict.outcome is Outcome.FAIL:
            into[verdict.clause] = (*into.get(verdict.clause, ()), verdict.case_id)


def by_bytes(stand: Stand, serializer: Serializer) -> Failures:
    """The clauses that fail on what ``serializer`` makes of the light cases and of the samples of other types."""
    failures: dict[str, tuple[str, ...]] = {}
    for tried in stand.light:
        if place_of(tried.case) is None:
            continue
        exchange = _serialized(tried, serializer)
        _failed(judge(tried.case, exchange, tried.table, clauses=stand.clauses), failures)
    if serializer.reshapes:
        return failures
    for batch in samples():
        schema, rows = serializer.schema(batch.schema), serializer.batch(batch)
        verdicts = judge_bytes(schema, [rows], profile="ipc-message")
        chosen = {clause.id for clause in stand.clauses}
        _failed([verdict for verdict in verdicts if verdict.clause in chosen], failures)
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


def by_server(stand: Stand, mutant: str | None, kills: Sequence[str] = ()) -> Iterator[list[Verdict]]:
    """The verdicts, case by case, on what the reference server answers while it tells that lie.

    Heavy cases are put to it where they exist to observe one of ``kills``.
    """
    with ReferenceServer(mutant=mutant) as server:
        endpoint = Endpoint(grpc=server.grpc_endpoint, rest=f"http://{server.rest_endpoint}")
        spec = TargetSpec(name="mutant", kind=TargetKind.SERVER, endpoint=endpoint)
        with open_target(spec) as target:
            for tried in stand.served(kills):
                # A server of its own is a process of its own; the lies tried here need none.
                case = dataclasses.replace(tried.case, isolated=False)
                exchange = target.drive(case, tried.table)
                yield judge(case, exchange, tried.table, clauses=stand.clauses)


def try_mutant(stand: Stand, mutant: Mutant) -> Trial:
    """Tell one lie and see which clauses notice."""
    failures: dict[str, tuple[str, ...]] = {}
    if mutant.serializer is not None:
        failures.update(by_bytes(stand, mutant.serializer))
    if mutant.service is not None or any(clause not in failures for clause in mutant.kills):  # only a server shows it
        for verdicts in by_server(stand, mutant.name, mutant.kills):
            _failed(verdicts, failures)
    return Trial(mutant.name, failures, mutant.kills, tuple(mutant.also))
