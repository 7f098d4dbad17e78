"""Mutants break what they say that they break, and nothing else; together they break everything that can be broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import pytest

from conformance.reference.ipc.mutants import IPC_MUTANTS, IpcMutant
from conformance.reference.ipc.register import Made, mutant
from conformance.reference.ipc.variations import IPC_VARIATIONS, IpcVariation
from conformance.wire import read_stream
from conformance.wire.faults import Fault, Rule, Severity
from conformance.wire.file import FileReading, read_file
from conformance.wire.stream import StreamReading
from conformance.wire.tensors import TensorReading, read_tensor

READERS: Final[Mapping[str, Callable[[bytes], StreamReading | FileReading | TensorReading]]] = {
    "stream": read_stream,
    "file": read_file,
    "tensor": read_tensor,
}


def faults(kind: str, made: Made) -> list[Fault]:
    """The findings of our own judge in the bytes."""
    return READERS[kind](made.data).faults


@pytest.mark.parametrize("mutant", IPC_MUTANTS.values(), ids=IPC_MUTANTS)
def test_a_mutant_breaks_its_rule_and_no_other(mutant: IpcMutant) -> None:
    """One of the rules that a mutant names is reported on every sample, and no violation that it does not name."""
    made = list(mutant.make())

    assert made
    for each in made:
        assert each.batches is None
        found = faults(mutant.kind, each)
        assert mutant.beyond or {fault.rule for fault in found} & set(mutant.rules)
        violated = {fault.rule for fault in found if fault.severity is Severity.VIOLATION}
        assert violated <= {*mutant.rules, *mutant.also}


def test_every_violation_has_a_mutant() -> None:
    """Whatever the format forbids in a stream, a file or a tensor, a mutant does."""
    named = {rule for each in IPC_MUTANTS.values() for rule in each.rules}

    assert {rule for rule in Rule if rule.severity is Severity.VIOLATION} - named == set()


def test_every_note_is_shown() -> None:
    """Every legal form that may trouble a reader is in a variation or a mutant."""
    shown = {fault.rule for kind, made in _everything() for fault in faults(kind, made)}

    # These take bytes that no writer of tables makes; the tests of the verifier have them.
    by_hand = {Rule.FLATBUF_OVERLAP, Rule.FLATBUF_UNKNOWN_SLOT}
    assert {rule for rule in Rule if rule.severity is Severity.NOTE} - shown == by_hand


def _everything() -> Iterator[tuple[str, Made]]:
    noted = (each for each in IPC_MUTANTS.values() if any(rule.severity is Severity.NOTE for rule in each.rules))
    everything: list[IpcVariation | IpcMutant] = [*IPC_VARIATIONS.values(), *noted]
    for each in everything:
        for made in each.make():
            yield each.kind, made


def test_mutants_name_the_clauses_that_tell_of_them() -> None:
    """A mutant kills the clauses of its kind that ask about its rules."""
    assert IPC_MUTANTS["dictionary.missing"].kills
    assert all(each.startswith("sparse.") for each in IPC_MUTANTS["sparse.axis-twice"].kills)


def test_registration_is_checked() -> None:
    """A mutant has a name of its own and a docstring."""
    with pytest.raises(ValueError, match="the name is taken"):
        mutant("stream.empty", Rule.PREFIX_EMPTY)(test_registration_is_checked)
    with pytest.raises(ValueError, match="a rule or a clause that it breaks"):
        mutant("stream.harmless", ())(test_registration_is_checked)
    with pytest.raises(ValueError, match="expected a docstring"):
        mutant("stream.without-words", Rule.PREFIX_EMPTY)(lambda _model: b"")
