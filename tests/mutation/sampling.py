"""The sample: which mutants are made, from a seed, with a fair share for each module."""

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from cosmic_ray.ast import ast_nodes
from cosmic_ray.mutating import mutate_code

from tests.mutation.mutants import Mutant, difference, family, shares
from tests.mutation.operators import Exempt, operators, parsed, without_effect


@dataclass(frozen=True, slots=True)
class Site:
    """One place in a file, and the changes of one family that can be made there, as (operator, occurrence)."""

    line: int
    column: int
    family: str
    variants: tuple[tuple[str, int], ...]


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


def sample(sources: Mapping[str, str], total: int, seed: int) -> list[Mutant]:
    """A sample of the mutants of these files, the same for the same seed and sources."""
    every = {path: sites(source) for path, source in sources.items()}
    given = shares({path: len(found) for path, found in every.items()}, total)
    drawn = []
    for path, share in given.items():
        source = random.Random(f"{seed}:{path}")
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
