"""Prove that the suite can fail: each mutant must fail its intended clauses, and no undeclared one.

There are three gates. A mutant that does not fail its intended clauses *survives*. A clause that no mutant is made for
is *unproven*. A mutant on which an undeclared clause fails is *over-broad*: either the clause requires more than its
id says, or the mutant deviates twice. In the other direction, a *legal variation* must not fail anything.

A serializer in this process makes faults in bytes. A server, which is sent every case, makes faults in behaviour, and
faults in bytes that only a server can show (lost rows, swapped columns). A server is sent the cases of
its own protocol, and no others.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

import pyarrow as pa

from conformance._globs import matches
from conformance.contract.clause import Clause
from conformance.contract.files import judge_bytes
from conformance.contract.judge import judge
from conformance.engine.asking import Tried, asked, drawn
from conformance.engine.reuse import Reuse
from conformance.generate import materialise
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import DEFAULT_PROTOCOL, plugin
from conformance.records import (
    Call,
    Case,
    Exchange,
    Outcome,
    Reading,
    ReadingOutcome,
    ValueProfile,
    Verdict,
)
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.register import Misread, Mutant
from conformance.reference.samples import samples, times
from conformance.reference.serializer import REFERENCE, Serializer
from conformance.targets import open_target
from conformance.targets.handing import batches_of, place_of
from conformance.targets.spec import Deadlines

__all__ = [
    "ProofFixture",
    "Trial",
    "Tried",
    "by_bytes",
    "by_process",
    "by_readings",
    "by_scenario",
    "by_server",
    "is_heavy",
    "note_failures",
    "try_mutant",
]

Failures = Mapping[str, tuple[str, ...]]
"""Clause id to the ids of the cases on which it failed."""


HEAVY_ROWS: Final = 2000
"""A case with more rows, with wide cells or with a server of its own is tried only on mutants that it is made for."""


SHORT: Final = Deadlines(start=60, call=3, seed=30, case=30)
"""Deadlines for servers that hang: a correct server needs less than a second for anything here."""


_SHOWN: Final = frozenset({Outcome.FAIL, Outcome.ERROR})
"""The outcomes that a clause can give."""


@dataclasses.dataclass(frozen=True, slots=True)
class Trial:
    """The result for one mutant (or legal variation): the clauses that failed, and the cases on which they failed."""

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
        """Clauses that failed although the mutant does not declare them."""
        declared = (*self.kills, *self.also)
        return tuple(clause for clause in sorted(self.failures) if not matches(clause, declared))


def is_heavy(case: Case) -> bool:
    """True if a case is tried only on mutants that it is made for (:data:`HEAVY_ROWS`)."""
    recipe = case.table.recipe
    return case.isolated or (recipe is not None and (recipe.rows > HEAVY_ROWS or recipe.values is ValueProfile.WIDE))


@dataclasses.dataclass(frozen=True, slots=True)
class ProofFixture:
    """The inputs of every trial: the light cases with their tables, the heavy ones without, and the clauses. Each
    ``step``-th scenario is drawn.
    """

    light: tuple[Tried, ...]
    heavy: tuple[Case, ...]
    clauses: tuple[Clause, ...]
    step: int = 1

    @classmethod
    def of(cls, cases: Iterable[Case], clauses: Iterable[Clause]) -> ProofFixture:
        """The fixture for those cases."""
        every = list(cases)
        light = tuple(Tried(case, materialise(case.table)) for case in every if not is_heavy(case))
        return cls(light, tuple(case for case in every if is_heavy(case)), tuple(clauses))

    def thinned(self, step: int) -> Self:
        """The same fixture with each ``step``-th of its light cases."""
        return dataclasses.replace(self, light=self.light[::step])

    def sampled(self, step: int, first: int) -> Self:
        """The same fixture with each ``step``-th of its light cases, from a ``first`` one, of the scenarios, and
        without heavy cases; everything with the step 1.
        """
        if step == 1:
            return self
        return dataclasses.replace(self, light=self.light[first::step], heavy=(), step=step)

    def shared(self, step: int, clauses: Sequence[str]) -> Self:
        """The same fixture with the light cases that are made for one of ``clauses``, and each ``step``-th other."""
        made = {one.case.id for one in self.light if any(matches(name, one.case.clauses) for name in clauses)}
        others = [one.case.id for one in self.light if one.case.id not in made]
        kept = made.union(others[::step])
        return dataclasses.replace(self, light=tuple(one for one in self.light if one.case.id in kept))

    def narrowed(self, clauses: Sequence[Clause]) -> Self:
        """The same fixture with these clauses alone, and the light cases that are made for one of them."""
        light = tuple(one for one in self.light if any(matches(clause.id, one.case.clauses) for clause in clauses))
        return dataclasses.replace(self, light=light, clauses=tuple(clauses))

    def served(self, kills: Sequence[str]) -> Iterator[Tried]:
        """The light cases that every server can serve, then heavy cases made for those of ``kills`` that no light case
        is made for.
        """
        asked = [tried for tried in self.light if _can_be_asked(tried.case)]
        yield from asked
        heavy = [clause for clause in kills if not any(matches(clause, tried.case.clauses) for tried in asked)]
        for case in self.heavy:
            if any(matches(clause, case.clauses) for clause in heavy):
                yield Tried(case, materialise(case.table))

    def scenarios(self, kills: Sequence[str], protocol: str) -> Iterator[Tried]:
        """The scenarios of a default run on a server of a protocol, if one of ``kills`` is about what they show."""
        chapter = plugin(GeneratePlugin, protocol).scenario_chapter
        if any(clause.startswith(f"{chapter}.") for clause in kills):
            yield from drawn(protocol)[:: self.step]

    def made_for(self, kills: Sequence[str]) -> Iterator[Tried]:
        """The cases, light and heavy, that are made for one of ``kills``."""
        for tried in self.light:
            if _can_be_asked(tried.case) and any(matches(clause, tried.case.clauses) for clause in kills):
                yield tried
        for case in self.heavy:
            if any(matches(clause, case.clauses) for clause in kills):
                yield Tried(case, materialise(case.table))


def _can_be_asked(case: Case) -> bool:
    """True unless a case needs what the reference of its protocol does not have."""
    return plugin(ReferencePlugin, case.protocol).capabilities.issuperset(case.needs)


def note_failures(
    verdicts: Sequence[Verdict], into: dict[str, tuple[str, ...]], *, counted: Collection[Outcome] = _SHOWN
) -> None:
    """Add the clauses that failed to ``into``, each with its cases.

    A clause that raised an exception is not a kill and is never declared: its entry, as that of every other outcome in
    ``counted``, has a name that is no clause's.
    """
    for verdict in verdicts:
        if verdict.outcome in counted:
            failed = verdict.outcome is Outcome.FAIL
            name = verdict.clause if failed else f"{verdict.outcome} in {verdict.clause}: {verdict.reason}"
            into[name] = (*into.get(name, ()), verdict.case_id)


def by_bytes(proof_fixture: ProofFixture, serializer: Serializer) -> Failures:
    """The clauses that fail on the output of ``serializer``, with their failures.

    It serializes the cases with small tables, and samples of the types that BigQuery does not have.
    """
    failures: dict[str, tuple[str, ...]] = {}
    for tried in proof_fixture.light:
        if place_of(tried.case) is None:
            continue
        exchange = _serialized(tried, serializer)
        verdicts = _judging_bytes(proof_fixture.clauses).judge(tried.case, exchange, tried.table)
        note_failures(verdicts.plain, failures)
    bare = [(times(), "bq-arrow")] + [(batch, "ipc-message") for batch in samples() if not serializer.reshapes]
    chosen = {clause.id for clause in proof_fixture.clauses}
    for batch, profile in bare:
        schema, rows = serializer.serialize_schema(batch.schema), serializer.serialize_batch(batch)
        judged = judge_bytes(schema, [rows], profile=profile)
        note_failures([verdict for verdict in judged if verdict.clause in chosen], failures)
    return failures


def by_readings(proof_fixture: ProofFixture, misread: Misread) -> Failures:
    """The clauses that fail if ``misread`` distorts the correct readings of the reference's own bytes."""
    failures: dict[str, tuple[str, ...]] = {}
    tried = next(
        tried for tried in proof_fixture.light if place_of(tried.case) is not None and tried.table.num_rows > 1
    )
    exchange = _serialized(tried, REFERENCE)
    readings = list(_true_readings(tried.case.id, exchange))
    verdicts = judge(tried.case, exchange, tried.table, readings=misread(readings), clauses=proof_fixture.clauses)
    note_failures(verdicts, failures)
    return failures


def _true_readings(case_id: str, exchange: Exchange) -> Iterator[Reading]:
    """The readings of the messages by pyarrow in its two ways, which are correct; both belong to one camp."""
    schema_bytes, *batches = (call.responses[0] for call in exchange.calls)
    schema = pa.ipc.read_schema(pa.py_buffer(schema_bytes))
    by_slots = pa.Table.from_batches([pa.ipc.read_record_batch(pa.py_buffer(one), schema) for one in batches])
    as_stream = pa.ipc.open_stream(pa.py_buffer(schema_bytes + b"".join(batches))).read_all()
    for reader, table in (("pyarrow.slots", by_slots), ("pyarrow.stream", as_stream)):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        data = sink.getvalue().to_pybytes()
        yield Reading(reader, case_id, "serializer", ReadingOutcome.TABLE, table=data, camp="pyarrow.slots")


def _serialized(tried: Tried, serializer: Serializer) -> Exchange:
    place = place_of(tried.case)
    assert place is not None, "only pure cases are serialized"
    schema = serializer.serialize_schema(tried.table.schema)
    calls = [Call(place.session, "schema", "SerializeSchema", b"", (schema,))]
    for number, batch in enumerate(batches_of(tried.table, tried.case.table.recipe)):
        message = serializer.serialize_batch(batch)
        calls.append(Call(place.read, f"batch/{number}", "SerializeBatch", b"", (message,)))
    return Exchange(tried.case.id, "mutant", calls=tuple(calls))


def by_scenario(
    proof_fixture: ProofFixture, scenario: str, protocol: str, mutant: str | None = None
) -> Iterator[list[Verdict]]:
    """The verdicts on the answers of the reference, or of a mutant, as the server of a scenario of a protocol."""
    spoken = plugin(ReferencePlugin, protocol)
    case = spoken.scenarios()[scenario]
    assert spoken.played is not None, "the protocol has scenarios"
    with closing(spoken.target(mutant) if mutant else spoken.played(scenario)) as target:
        yield from asked(target, proof_fixture.clauses, [Tried(case, materialise(case.table))])


def by_server(
    proof_fixture: ProofFixture,
    mutant: str | None,
    kills: Sequence[str] = (),
    protocol: str = DEFAULT_PROTOCOL,
    *,
    refined: bool = False,
) -> Iterator[list[Verdict]]:
    """The verdicts, case by case, on the answers of the reference server with that fault, or without one if None.

    Heavy cases are included if they are made for one of ``kills``; so are scenarios if one of these is about them. With
    ``refined``, a refusal or a death that no clause reports fails the case, as in a run.
    """
    spoken = plugin(ReferencePlugin, protocol)
    with ExitStack() as stack:
        target = stack.enter_context(closing(spoken.target(mutant)))
        racing = functools.cache(lambda: stack.enter_context(closing(spoken.meeting(mutant))))
        # An isolated server is a process of its own; the mutants tried here do not need one.
        cases = (
            Tried(dataclasses.replace(one.case, isolated=False), one.table)
            for one in chain(proof_fixture.served(kills), proof_fixture.scenarios(kills, protocol))
        )
        yield from asked(
            target, proof_fixture.clauses, cases, service=spoken.service(mutant), refined=refined, racing=racing
        )


def by_process(
    proof_fixture: ProofFixture,
    mutant: str,
    kills: Sequence[str],
    protocol: str = DEFAULT_PROTOCOL,
) -> Iterator[list[Verdict]]:
    """As :func:`by_server`, for a mutant that hangs or dies: in a process, with short deadlines, on the cases made for
    ``kills``.
    """
    with TemporaryDirectory() as folder:
        spec = plugin(ReferencePlugin, protocol).process(mutant, Path(folder))
        with open_target(dataclasses.replace(spec, deadlines=SHORT)) as target:
            yield from asked(target, proof_fixture.clauses, proof_fixture.made_for(kills))


@functools.lru_cache(maxsize=8)
def _judging_bytes(clauses: tuple[Clause, ...]) -> Reuse:
    """What judges the exchanges of serializers in this process."""
    return Reuse(clauses, lambda case, table: (_serialized(Tried(case, table), REFERENCE), None))


def try_mutant(proof_fixture: ProofFixture, mutant: Mutant) -> Trial:
    """The clauses that fail on one mutant; the cases of the fixture are of the mutant's protocol."""
    failures: dict[str, tuple[str, ...]] = {}
    protocol = mutant.protocol
    scenario = getattr(mutant.service, "scenario", None)
    if mutant.serializer is not None:
        failures.update(by_bytes(proof_fixture, mutant.serializer))
    if mutant.readings is not None:
        failures.update(by_readings(proof_fixture, mutant.readings))
    elif mutant.process:
        for verdicts in by_process(proof_fixture, mutant.name, mutant.kills, protocol):
            note_failures(verdicts, failures)
    elif scenario is not None:
        for verdicts in by_scenario(proof_fixture, scenario, protocol, mutant.name):
            note_failures(verdicts, failures)
    elif mutant.service is not None or any(clause not in failures for clause in mutant.kills):  # only servers show it
        for verdicts in by_server(proof_fixture, mutant.name, mutant.kills, protocol):
            note_failures(verdicts, failures)
    return Trial(mutant.name, failures, mutant.kills, tuple(mutant.also))
