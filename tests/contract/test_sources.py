"""The public texts that clauses rest on."""

from __future__ import annotations

import ast
from pathlib import Path

from conformance.contract import sources

CHAPTERS = Path(sources.__file__).parent / "chapters"


def _addresses(path: Path) -> list[str]:
    """The addresses that a module gives a name to."""
    values = [node.value for node in ast.parse(path.read_text()).body if isinstance(node, ast.AnnAssign)]
    texts = [value.value for value in values if isinstance(value, ast.Constant)]
    return [text for text in texts if isinstance(text, str) and text.startswith("https://")]


def test_each_address_has_one_name() -> None:
    """No two names are for one address."""
    found = _addresses(Path(sources.__file__))
    assert found
    assert len(found) == len(set(found))


def test_no_chapter_names_an_address_of_its_own() -> None:
    """Addresses are in the table of sources, where other chapters find them."""
    assert {path.name: _addresses(path) for path in CHAPTERS.glob("*.py") if _addresses(path)} == {}
