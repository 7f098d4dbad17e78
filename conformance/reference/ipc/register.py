"""The register of legal variations and mutants of streams, files and tensors.

Each is a function on a model, under one decorator; its docstring says what it does. It is tried on a few samples. If it
does not apply to a sample (which has no list, for example), it raises :class:`LookupError` and the sample is left out.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

import pyarrow as pa

from conformance.contract.ipc.rules import clauses_of_rules
from conformance.reference.ipc.models import FileModel, StreamModel
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.ipc.samples.tensors import TENSORS
from conformance.reference.ipc.tensors import TensorModel
from conformance.wire.faults import Rule

__all__ = [
    "IPC_MUTANTS",
    "IPC_VARIATIONS",
    "ContainerKind",
    "Grade",
    "IpcMutant",
    "IpcVariation",
    "Made",
    "mutant",
    "variation",
]

ContainerKind = Literal["stream", "file", "tensor"]
Grade = Literal["required", "optional", "ambiguous"]
Model = StreamModel | FileModel | TensorModel


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """The bytes made from one sample. ``batches`` is their content; None where it is not tables or not defined."""

    sample: str
    data: bytes
    batches: list[pa.RecordBatch] | None


@dataclasses.dataclass(frozen=True, slots=True)
class IpcVariation:
    """One legal difference: what it is, and the text that permits it.

    ``grade`` says what a reader must do: ``required``, read it; ``optional``, read it or refuse it, since the format
    names it as something that an implementation may lack; ``ambiguous``, read it or refuse it, since the format is
    silent or contradicts itself.
    """

    name: str
    what: str
    source: str
    kind: ContainerKind
    make: Callable[[], Iterator[Made]]
    grade: Grade = "required"


@dataclasses.dataclass(frozen=True, slots=True)
class IpcMutant:
    """One deviation: the ``fault``, and the rules that it breaks.

    A judge has to report one of ``rules``, and no violation of any other but those in ``also``, each with the reason
    why it may rightly be found too. ``beyond`` are clauses on requirements for which ``wire`` has no rule; a mutant
    that names them may break no rule at all.
    """

    name: str
    fault: str
    rules: tuple[Rule, ...]
    also: Mapping[Rule, str]
    source: str
    kind: ContainerKind
    make: Callable[[], Iterator[Made]]
    beyond: tuple[str, ...] = ()

    @property
    def kills(self) -> tuple[str, ...]:
        """The clauses that report the rules: one of them must fail. Empty if every clause treats the rules as notes."""
        reported = clauses_of_rules(f"ipc-{self.kind}")
        return tuple(dict.fromkeys((*(reported[rule] for rule in self.rules if rule in reported), *self.beyond)))


_VARIATIONS: dict[str, IpcVariation] = {}
_MUTANTS: dict[str, IpcMutant] = {}

IPC_VARIATIONS: Final[Mapping[str, IpcVariation]] = MappingProxyType(_VARIATIONS)
"""Every legal variation by name; complete once :mod:`conformance.reference.ipc.variations` is imported."""

IPC_MUTANTS: Final[Mapping[str, IpcMutant]] = MappingProxyType(_MUTANTS)
"""Every mutant by name; complete once :mod:`conformance.reference.ipc.mutants` is imported."""

STANDARD: Final = (
    "rows.several",
    "nested.mixed",
    "nulls.words",
    "dictionary.two",
    "dictionary.delta",
    "types.union-dense",
    "names.field-metadata",
)
"""Samples of different shapes, for variations and mutants that apply to all of them."""

F = TypeVar("F", bound=Callable[..., Any])
Choices = Mapping[str, object]
_NONE: Final[Choices] = MappingProxyType({})


def variation(
    name: str,
    source: str,
    *,
    kind: ContainerKind = "stream",
    on: Sequence[str] = STANDARD,
    grade: Grade = "required",
    choices: Choices = _NONE,
    reported: bool = True,
) -> Callable[[F], F]:
    """Registers a function from a model to a model or to bytes; one that returns None has changed the model in place.

    Without ``reported``, it is not defined which batches the bytes hold.
    """

    def register(vary: F) -> F:
        _free(name, _VARIATIONS)
        make = _maker(kind, on, choices, vary, reported=reported)
        _VARIATIONS[name] = IpcVariation(name, _docstring(name, vary), source, kind, make, grade)
        return vary

    return register


def mutant(
    name: str,
    rules: Rule | tuple[Rule, ...],
    *,
    kind: ContainerKind = "stream",
    on: Sequence[str] = STANDARD,
    also: Mapping[Rule, str] | None = None,
    source: str = "",
    choices: Choices = _NONE,
    beyond: tuple[str, ...] = (),
    fault: str = "",
) -> Callable[[F], F]:
    """Registers a mutant: a function as :func:`variation` takes it; ``fault`` is given where it has no docstring."""

    def register(reported: F) -> F:
        _free(name, _MUTANTS)
        broken = (rules,) if isinstance(rules, Rule) else rules
        make = _maker(kind, on, choices, reported, reported=False)
        if not broken and not beyond:
            raise ValueError(f"{name}: expected a rule or a clause that it breaks, got none")
        _MUTANTS[name] = IpcMutant(
            name, fault or _docstring(name, reported), broken, dict(also or {}), source, kind, make, beyond
        )
        return reported

    return register


def _free(name: str, taken: Mapping[str, object]) -> None:
    if name in taken:
        raise ValueError(f"{name}: the name is taken")


def _docstring(name: str, reported: Callable[..., Any]) -> str:
    text = inspect.cleandoc(reported.__doc__ or "")
    if not text:
        raise ValueError(f"{name}: expected a docstring that says what it does, got none")
    return text


_EVERY_TYPE: Final = all(hasattr(pa, name) for name in ("string_view", "list_view", "decimal32"))


def _is_lacking(kind: ContainerKind, sample: str) -> bool:
    """Whether the sample is absent because this pyarrow lacks its types, rather than misspelt."""
    return not _EVERY_TYPE and kind != "tensor" and sample not in SAMPLES


def _model(kind: ContainerKind, sample: str, choices: Choices) -> tuple[Model, list[pa.RecordBatch] | None]:
    if kind == "tensor":
        return TENSORS[sample].model(), None
    found = SAMPLES[sample]
    return (found.stream if kind == "stream" else found.file_of)(**choices), list(found.batches)


def _maker(
    kind: ContainerKind, on: Sequence[str], choices: Choices, change: Callable[[Any], Any], *, reported: bool
) -> Callable[[], Iterator[Made]]:
    def make() -> Iterator[Made]:
        for sample in on:
            if _is_lacking(kind, sample):
                continue
            model, batches = _model(kind, sample, choices)
            try:
                changed = change(model)
            except LookupError:
                continue
            data = changed if isinstance(changed, bytes) else (model if changed is None else changed).encode()
            yield Made(sample, data, batches if reported else None)

    return make
