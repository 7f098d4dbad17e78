"""A proof as text for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.contain.text import many
from conformance.engine.proof import Trial
from conformance.engine.prove import Proof

__all__ = ["as_json", "as_json_text", "as_text", "took"]

LISTED: Final = 21
"""The most cases of a clause and a mutant in JSON: more than what decides which cases can show a clause."""
LONGEST: Final = 5
"""The number of tasks that are named with the seconds that they took."""


def as_text(proof: Proof, *, matrix: bool = False) -> str:
    """The result of a proof: everything that breaks a gate, the faulty servers, and lines with totals."""
    return "\n".join([*(_matrix(proof) if matrix else ()), *_broken(proof), *_faulty_servers(proof), *_totals(proof)])


def took(proof: Proof) -> str:
    """Two lines: the seconds of all tasks by their kind, and the tasks that took longest."""
    kinds: dict[str, float] = {}
    for (kind, _), seconds in proof.seconds.items():
        kinds[kind] = kinds.get(kind, 0.0) + seconds
    longest = sorted(proof.seconds.items(), key=lambda one: -one[1])[:LONGEST]
    return (
        "seconds of all processes: "
        + ", ".join(f"{kind} {seconds:.0f}" for kind, seconds in sorted(kinds.items(), key=lambda one: -one[1]))
        + "\ntook longest: "
        + ", ".join(f"{f'{kind} {name}'.strip()} {seconds:.1f}" for (kind, name), seconds in longest)
    )


def _matrix(proof: Proof) -> Iterator[str]:
    yield "mutant: the clause that it was made for; others that fail with it"
    for trial in proof.trials:
        others = sorted(set(trial.failures) - set(trial.kills))
        yield f"  {trial.name:36} {', '.join(trial.kills)}" + (f"; also {', '.join(others)}" if others else "")
    yield ""


def _broken(proof: Proof) -> Iterator[str]:
    for trial in proof.survived:
        yield f"SURVIVED    {trial.name}: {', '.join(trial.survived)} did not fail"
    for trial in proof.broad:
        yield f"OVER-BROAD  {trial.name}: " + ", ".join(_where(trial, clause) for clause in trial.surplus)
    for clause in proof.unproven:
        yield f"UNPROVEN    {clause}: no mutant is made for it"
    for clause in proof.unknown:
        yield f"UNKNOWN     {clause}: a mutant is made for it, but the clause does not exist"
    for name, failures in proof.alarms.items():
        yield f"FALSE ALARM {name}: " + ", ".join(f"{clause} on {cases[0]}" for clause, cases in failures.items())
    for fate in proof.survivors:
        yield f"SURVIVED    {fate.path} {fate.change}: nothing rejects the change and nothing permits it"
    for fate in proof.raised:
        yield f"RAISED      {fate.path} {fate.change}: {fate.errors[0]}"


def _where(trial: Trial, clause: str) -> str:
    cases = trial.failures[clause]
    return f"{clause} on {cases[0]}" + (f" and {len(cases) - 1} more" if len(cases) > 1 else "")


def _faulty_servers(proof: Proof) -> Iterator[str]:
    if proof.faulty_servers:
        yield "faulty servers, and how many MUST clauses each holds:"
    for name, clauses in proof.faulty_servers.items():
        yield f"  {name:24} {len(clauses)}"


def _totals(proof: Proof) -> Iterator[str]:
    killed = len(proof.trials) - len(proof.survived)
    yield f"{killed} of {many(len(proof.trials), 'mutant')} killed, {len(proof.broad)} over-broad"
    if proof.changes:
        yield f"{many(sum(proof.changes.values()), 'systematic change')}: {_counted(proof.changes)}"
        yield f"{many(sum(proof.types.values()), 'substituted type')}: {_counted(proof.types)}"
    yield f"{many(proof.variations, 'legal variation')}, {many(len(proof.alarms), 'false alarm')}"
    yield "the proof holds" if proof.holds else "the proof does NOT hold"


def _counted(fates: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {fate}" for fate, count in sorted(fates.items()))


def as_json_text(proof: Proof) -> str:
    """The JSON form as text, with a line for each mutant and each of the other values."""
    form = as_json(proof)
    lines = (f"  {json.dumps(name)}: {json.dumps(mutant)}" for name, mutant in form["mutants"].items())
    values = {name: json.dumps(value) for name, value in form.items()} | {"mutants": "{\n" + ",\n".join(lines) + "\n }"}
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {text}" for name, text in values.items()) + "\n}\n"


def _failed(trial: Trial) -> dict[str, Any]:
    """The clauses that failed, each with its first cases, and where there are ``more``, their number."""
    failures = sorted(trial.failures.items())
    more = {clause: len(cases) - LISTED for clause, cases in failures if len(cases) > LISTED}
    return {"failed": {clause: list(cases[:LISTED]) for clause, cases in failures}, **({"more": more} if more else {})}


def as_json(proof: Proof) -> dict[str, Any]:
    """The result in a stable order, so that two proofs can be compared line by line; of the cases on which a clause
    failed, the first :data:`LISTED`.
    """
    return {
        "holds": proof.holds,
        "mutants": {
            trial.name: {
                "kills": list(trial.kills),
                **_failed(trial),
                "survived": list(trial.survived),
                "surplus": list(trial.surplus),
            }
            for trial in sorted(proof.trials, key=lambda trial: trial.name)
        },
        "liars": {name: list(clauses) for name, clauses in sorted(proof.faulty_servers.items())},
        "variations": proof.variations,
        "alarms": {name: dict(failures) for name, failures in sorted(proof.alarms.items())},
        "unproven": list(proof.unproven),
        "changes": dict(sorted(proof.changes.items())),
        "types": dict(sorted(proof.types.items())),
        "survivors": [[fate.path, fate.change] for fate in proof.survivors],
        "raised": [[fate.path, fate.change, *fate.errors] for fate in proof.raised],
    }
