"""The sample: which mutants are made, from a seed, with a fair share for each module."""

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes
from cosmic_ray.mutating import mutate_code

from tests.mutation.operators import Exempt, family, operators, parsed, without_effect

PACKAGES = ("wire", "contract", "engine", "contain", "report")


@dataclass(frozen=True, slots=True)
class Site:
    """One place in a file, and the changes of one family that can be made there, as (operator, occurrence)."""

    line: int
    column: int
    family: str
    variants: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one file: the lines `old`, of which the first is number `line`, become the lines `new`."""

    path: str
    line: int
    operator: str
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def key(self) -> str:
        """What names the mutant in every file that the tool writes."""
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


def modules(root: Path, packages: Sequence[str] = PACKAGES) -> list[str]:
    """The files that are mutated, as paths below `root`."""
    return [
        path.relative_to(root).as_posix()
        for package in packages
        for path in sorted((root / "conformance" / package).rglob("*.py"))
    ]


def sites(source: str) -> list[Site]:
    """Every place of a file where an operator can change something that runs."""
    used = operators()
    exempt = Exempt(source)
    counts: Counter[str] = Counter()
    found: dict[tuple[int, int, str], list[tuple[str, int]]] = defaultdict(list)
    for node in ast_nodes(parsed(source)):
        if node.type in {"string", "newline", "name", "endmarker", "fstring_string"}:
            continue
        for name, operator in used.items():
            for (line, column), _ in _positions(operator, node):
                if (line, column) not in exempt:
                    found[line, column, family(name)].append((name, counts[name]))
                counts[name] += 1
    return [Site(line, column, kind, tuple(variants)) for (line, column, kind), variants in sorted(found.items())]


def _positions(operator, node) -> list[tuple[tuple[int, int], tuple[int, int]]]:  # type: ignore[no-untyped-def] # noqa: ANN001
    try:
        return list(operator.mutation_positions(node))
    except (AttributeError, IndexError):
        # Cosmic-ray's replacer of exceptions knows `except Name` and `except (A, B)`, not `except module.Name`.
        return []


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


def sample(sources: Mapping[str, str], total: int, seed: int) -> list[Mutant]:
    """A sample of the mutants of these files, the same for the same seed and sources."""
    every = {path: sites(source) for path, source in sources.items()}
    given = shares({path: len(found) for path, found in every.items()}, total)
    drawn = []
    for path, share in given.items():
        source = random.Random(f"{seed}:{path}")  # noqa: S311  # a sample, not a secret
        order = source.sample(every[path], len(every[path]))
        made = (mutant for site in order if (mutant := _drawn(path, sources[path], site, source)) is not None)
        drawn += [mutant for mutant, _ in zip(made, range(share), strict=False)]
    return drawn


def _drawn(path: str, source: str, site: Site, random_source: random.Random) -> Mutant | None:
    """One of the site's changes, or None if each of them is no Python or the same program."""
    used = operators()
    for name, occurrence in random_source.sample(site.variants, len(site.variants)):
        try:
            changed = mutate_code(source, used[name], occurrence)
        except AttributeError:
            # Of `except (OSError, module.Error)`, cosmic-ray's replacer of exceptions knows the first only.
            continue
        if changed is None or not _another_program(source, changed):
            continue
        mutant = difference(path, source, changed, name)
        return None if without_effect(name, mutant.old) else mutant
    return None


def _another_program(source: str, changed: str) -> bool:
    try:
        return _program(changed) != _program(source)
    except (SyntaxError, ValueError):
        return False


def _program(source: str) -> str:
    """The program, without which of the parameters may be named."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.defaults = [*node.defaults, *(default for default in node.kw_defaults if default is not None)]
            node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
    return ast.dump(tree)


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
