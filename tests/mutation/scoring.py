"""The score: how the mutants ended, as one JSON document and as a page."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mutation.mutants import LEFT_OUT, PACKAGES, Mutant, family

KILLED = frozenset({"killed", "timeout"})
# The columns of a row of the page, in their order.
COLUMNS = ("mutants", "killed", "timeout", "survived", "equivalent")

# Characters of a line of code that the page shows; the report has all of them.
SHOWN = 120


@dataclass(frozen=True, slots=True)
class Entry:
    """A mutant that a person wrote down: one that is `named`, or one that no test can notice, and why."""

    path: str
    old: str
    new: str
    reason: str

    def names(self, mutant: Mutant) -> bool:
        """Whether the mutant is this change; indentation and line breaks do not count."""
        return (self.path, _words(self.old), _words(self.new)) == (
            mutant.path,
            _words("\n".join(mutant.old)),
            _words("\n".join(mutant.new)),
        )

    def mutant(self, source: str) -> Mutant | None:
        """The change as a mutant of this source, or None where the source has no such lines."""
        at = source.find(self.old)
        if at < 0:
            return None
        changed = source[:at] + self.new + source[at + len(self.old) :]
        first = source.count("\n", 0, at)
        last = source.count("\n", 0, at + len(self.old)) + 1
        lines = changed.split("\n")
        after = len(source.split("\n")) - last
        return Mutant(
            self.path,
            first + 1,
            "by hand",
            tuple(source.split("\n")[first:last]),
            tuple(lines[first : len(lines) - after]),
        )


def entries(path: Path) -> list[Entry]:
    """The entries of a TOML file."""
    return [Entry(**row) for row in tomllib.loads(path.read_text())["mutant"]]


def _words(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Result:
    """A mutant and how it ended."""

    mutant: Mutant
    outcome: str
    killer: str | None
    tests: int
    seconds: float
    reason: str | None = None


def judged(results: Iterable[Result], equivalents: Sequence[Entry]) -> list[Result]:
    """The results, with the reason for each survivor that is equivalent.

    Raises:
        ValueError: a test noticed a mutant that is listed as equivalent.
    """
    judged = []
    for result in results:
        reason = next((entry.reason for entry in equivalents if entry.names(result.mutant)), None)
        if reason is not None and result.outcome in KILLED:
            raise ValueError(f"listed as equivalent, and killed by {result.killer}: {result.mutant.key}")
        judged.append(Result(result.mutant, result.outcome, result.killer, result.tests, result.seconds, reason))
    return judged


def counted(results: Iterable[Result]) -> Counter[str]:
    """How many mutants there are, and how many ended in which way. One whose code is gone is no mutant any more."""
    counts: Counter[str] = Counter()
    for result in results:
        if result.outcome == "gone":
            counts["gone"] += 1
            continue
        counts["mutants"] += 1
        counts[result.outcome] += 1
        counts["equivalent"] += result.reason is not None
        counts["without a test"] += result.outcome == "survived" and result.tests == 0
    return counts


def score(counts: Mapping[str, int]) -> float:
    """The share of the sample that tests noticed, in per cent; equivalent mutants count as not noticed."""
    return 100 * (counts.get("killed", 0) + counts.get("timeout", 0)) / max(counts.get("mutants", 0), 1)


def by_package(results: Sequence[Result]) -> dict[str, Counter[str]]:
    """The counts of each package."""
    return {
        package: counted(result for result in results if result.mutant.path.split("/")[1] == package)
        for package in PACKAGES
    }


def document(results: Sequence[Result], named: Sequence[Result], about: Mapping[str, Any]) -> dict[str, Any]:
    """The published JSON document."""
    counts = counted(results)
    return {
        **about,
        "score": round(score(counts), 1),
        "counts": dict(sorted(counts.items())),
        "packages": {
            package: {"score": round(score(counts), 1), **dict(sorted(counts.items()))}
            for package, counts in by_package(results).items()
        },
        "operators": {
            kind: dict(sorted(counted(result for result in results if family(result.mutant.operator) == kind).items()))
            for kind in sorted({family(result.mutant.operator) for result in results})
        },
        "by_hand": [_row(result) for result in named],
        "mutants": [_row(result) for result in results],
    }


def _row(result: Result) -> dict[str, Any]:
    mutant = result.mutant
    row = {
        "file": mutant.path,
        "line": mutant.line,
        "operator": mutant.operator,
        "old": "\n".join(mutant.old),
        "new": "\n".join(mutant.new),
        "outcome": result.outcome,
        "test": result.killer,
        "tests": result.tests,
    }
    return row if result.reason is None else {**row, "equivalent": result.reason}


def page(results: Sequence[Result], named: Sequence[Result], about: Mapping[str, Any]) -> str:
    """The tables of `docs/dev/mutation.md`: score by package, mutants made by hand, survivors, equivalent mutants."""
    survivors = [result for result in results if result.outcome == "survived"]
    parts = [
        _about(about, counted(results)),
        _table(("package", "score", *COLUMNS), _score_rows(results)),
        "## Mutants made by hand\n\nEach is a change that an outside review made and no test noticed.",
        _table(("mutant", "outcome", "test"), [(r.reason or "", r.outcome, _test(r.killer)) for r in named]),
        "## Survivors\n\nNo test notices these changes, and nobody has shown that none could.",
        _listed(result for result in survivors if result.reason is None),
        "## Equivalent mutants\n\nThese changes survive because they change nothing that a test could notice.",
        _listed((result for result in survivors if result.reason is not None), "reason"),
        "## Changes that are not made",
        _table(("change", "reason"), list(LEFT_OUT.items())),
    ]
    return "\n\n".join(parts) + "\n"


def _about(about: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    made = f"Seed {about['seed']}, {about['date']}, Python {about['python']}, cosmic-ray {about['cosmic_ray']}."
    tried = f"{counts['mutants']} of the {about['requested']} mutants of the sample were tried"
    return f"{made} {tried}: {score(counts):.1f} % were noticed. {counts['timeout']} of them by a test that hung."


def _score_rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    rows = [*by_package(results).items(), ("**all**", counted(results))]
    return [(name, f"{score(counts):.1f} %", *(str(counts[column]) for column in COLUMNS)) for name, counts in rows]


def _test(name: str | None) -> str:
    return "-" if name is None else f"`{name}`"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _listed(results: Iterable[Result], *columns: str) -> str:
    rows = [
        (f"`{mutant.path.removeprefix('conformance/')}`, {mutant.line}", _code(mutant.old), _code(mutant.new))
        + ((result.reason or "",) if columns else ())
        for result in results
        for mutant in [result.mutant]
    ]
    return _table(("file and line", "code", "mutant", *columns), rows) if rows else "None."


def _code(lines: Sequence[str]) -> str:
    """Lines as one cell: a backtick would end it, and a long statement says enough by its start."""
    text = _words("\n".join(lines)).replace("`", "'")
    return f"`{text if len(text) <= SHOWN else text[:SHOWN] + '…'}`"
