"""The jobs of the workers: a writing, the values of a recipe, a reading; and the ids of cases."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from conformance.drift.readinputs import DriftInput
from conformance.drift.recipes import DriftRecipe, Writing
from conformance.drift.userfiles import OWN

__all__ = ["key_of", "mixed", "read_job", "size_of", "values_job", "write_job", "writing_id"]


def writing_id(recipe: DriftRecipe, writing: Writing) -> str:
    """The id of a case."""
    return f"{recipe.id}/{writing.name}"


def key_of(data: bytes) -> bytes:
    """The key of bytes in a mapping: their digest."""
    return hashlib.sha256(data).digest()


def mixed(seed: int, name: str) -> bytes:
    """A key that sorts names into an order without meaning."""
    return hashlib.sha256(f"{seed} {name}".encode()).digest()


def write_job(recipe: DriftRecipe, writing: Writing) -> dict[str, Any]:
    """A version writes a recipe."""
    options = {"container": writing.container, "options": dict(writing.options)}
    return {"id": writing_id(recipe, writing), "op": "write", "recipe": recipe.document, **options}


def values_job(recipe: DriftRecipe) -> dict[str, Any]:
    """A version says which values a recipe has."""
    return {"id": recipe.id, "op": "values", "recipe": recipe.document, "whole": "data" in recipe.document}


def read_job(one: DriftInput) -> dict[str, Any]:
    """A version reads an input."""
    data = base64.b64encode(one.data).decode()
    return {"id": one.id, "op": "read", "container": one.container, "data": data, "whole": one.id.startswith(OWN)}


def size_of(recipe: DriftRecipe) -> int:
    """The bytes of a recipe that come from a file."""
    return len(recipe.document.get("data", ""))
