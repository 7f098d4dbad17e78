"""The same seed draws the same mutants, and none of them where a change has no effect."""

from __future__ import annotations

import ast

import pytest

pytest.importorskip("cosmic_ray", reason="installed by `tox -e mutation`")

from tests.mutation.sampling import sample, sites

SOURCE = '''
"""A module."""
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    FLAG = True
__all__ = ["f" + "g"]

@cache(1)
def f(a: int | None = 3) -> int | None:
    """A docstring."""
    if a and a > 2:
        g(a)
    return a + 1

@dataclass(slots=True)
class C:
    x: int | str
'''


def families() -> set[tuple[int, str]]:
    """Each place of the source with its family."""
    return {(site.line, site.family) for site in sites(SOURCE)}


def test_code_that_runs_is_changed() -> None:
    """Defaults, conditions, comparisons, arithmetic, calls."""
    assert families() == {
        (9, "RemoveDecorator"),
        (10, "NumberReplacer"),
        (12, "AddNot"),
        (12, "ReplaceAndWithOr"),
        (12, "ReplaceComparisonOperator"),
        (12, "NumberReplacer"),
        (13, "RemoveStatement"),
        (14, "ReplaceBinaryOperator"),
        (14, "NumberReplacer"),
        (16, "RemoveDecorator"),
    }


def test_a_seed_draws_a_sample_again() -> None:
    """Another seed draws another one."""
    sources = {"x.py": SOURCE, "y.py": SOURCE}

    assert sample(sources, 6, 1) == sample(sources, 6, 1)
    assert sample(sources, 6, 1) != sample(sources, 6, 2)


def test_every_mutant_is_another_program() -> None:
    """Each can be compiled, and differs from the source by more than its layout."""
    drawn = sample({"x.py": SOURCE}, 100, 1)

    programs = {ast.dump(ast.parse(mutant.applied(SOURCE) or "")) for mutant in drawn}
    assert len(programs) == len(drawn)
    assert ast.dump(ast.parse(SOURCE)) not in programs


@pytest.mark.parametrize(
    ("source", "effect"),
    [
        ("a is None", True),
        ("def f(a, *, b=1):\n    return g", True),
        ("@functools.lru_cache(maxsize=None)\ndef f(): ...", False),
        ("@once_per_view\ndef f(): ...", False),
        ("@clause\ndef f(): ...", True),
    ],
)
def test_what_can_change_no_result_is_passed_over(source: str, *, effect: bool) -> None:
    """Identity of members of enums, memos, and which parameters may be named."""
    drawn = sample({"x.py": source}, 100, 1)

    assert bool(drawn) is effect
    assert not any("/" in line for mutant in drawn for line in mutant.new)
