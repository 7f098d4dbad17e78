"""A mutant: one change to the lines of one file. And the files that are changed, each with its share of the sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

PACKAGES = ("wire", "contract", "engine", "contain", "report")

# A change of this kind is never made, for the reason.
LEFT_OUT = {
    "VariableReplacer, VariableInserter": "they need names of variables, and draw from a random source without a seed",
    "`==` for `is`, `is` for `==`": "on small integers, members of enums and None both say the same",
    "`/` for the `*` in a list of parameters": "it changes who may pass an argument by name, not what is done with it",
    "annotations, `if TYPE_CHECKING`, `__all__`, `@overload`": "nothing of it has an effect when the program runs",
    "`@cache`, `@once_per_view`, `@per_schema`": "a memo changes no result; it saves time, which no test may assert",
    "`slots=` of a dataclass": "it saves memory and changes no result",
    "strings": "cosmic-ray has no operator on them",
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one file: the lines `old`, of which the first is number `line`, become the lines `new`."""

    path: str
    line: int
    operator: str
    old: tuple[str, ...]
    new: tuple[str, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """The mutant of a row of JSON."""
        return cls(**{**row, "old": tuple(row["old"]), "new": tuple(row["new"])})

    @property
    def key(self) -> str:
        """The name of the mutant in every file that the tool writes."""
        return f"{self.path}:{self.line}:{self.operator}:{' '.join(' '.join(self.new).split())}"

    def found(self, source: str) -> int | None:
        """The number of the first of the old lines in this source, the nearest to `line`; None where they are gone."""
        lines = source.split("\n")
        size = len(self.old)
        places = [at + 1 for at in range(len(lines) - size + 1) if tuple(lines[at : at + size]) == self.old]
        return min(places, key=lambda place: abs(place - self.line), default=None)

    def applied(self, source: str) -> str | None:
        """The source with the change; None where the old lines are gone."""
        line = self.found(source)
        if line is None:
            return None
        lines = source.split("\n")
        return "\n".join([*lines[: line - 1], *self.new, *lines[line - 1 + len(self.old) :]])


def family(operator: str) -> str:
    """The operator without what it replaces with what: `ReplaceBinaryOperator` of `ReplaceBinaryOperator_Add_Sub`."""
    return operator.split("_", maxsplit=1)[0]


def modules(root: Path, packages: Sequence[str] = PACKAGES) -> list[str]:
    """The files that are mutated, as paths below `root`."""
    return [
        path.relative_to(root).as_posix()
        for package in packages
        for path in sorted((root / "conformance" / package).rglob("*.py"))
    ]


def shares(counts: Mapping[str, int], total: int) -> dict[str, int]:
    """How many mutants each module gets: in proportion to its sites, at least one, and never more than it has."""
    whole = sum(counts.values())
    total = min(total, whole)
    exact = {module: total * count / whole for module, count in counts.items() if count}
    given = {module: min(max(1, int(share)), counts[module]) for module, share in exact.items()}
    for module in sorted(exact, key=lambda module: (int(exact[module]) - exact[module], module)):
        if sum(given.values()) >= total:
            break
        if given[module] < counts[module]:
            given[module] += 1
    return given


def difference(path: str, source: str, changed: str, operator: str) -> Mutant:
    """The change of one source into another as a mutant: the lines between the first and the last that differ."""
    old, new = source.split("\n"), changed.split("\n")
    head = _common(old, new)
    tail = min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    # Lines that are only removed have no text by which the place is found again: the next line goes along.
    tail -= len(new) - tail == head
    return Mutant(path, head + 1, operator, tuple(old[head : len(old) - tail]), tuple(new[head : len(new) - tail]))


def _common(these: Sequence[str], those: Sequence[str]) -> int:
    pairs = enumerate(zip(these, those, strict=False))
    return next((at for at, (this, that) in pairs if this != that), min(len(these), len(those)))
