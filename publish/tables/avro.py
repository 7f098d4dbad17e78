"""The generated part of ``docs/avro.md``: how many written cases of Storage Read have an Avro variant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.generate.forms import in_form
from conformance.protocol import DEFAULT_PROTOCOL
from publish.tables.blocks import filled

__all__ = ["NAME", "text"]

NAME: Final = "avro.md"
ROOT: Final = Path(__file__).resolve().parents[2]


def text() -> str:
    """The page with its generated sentence."""
    return filled(ROOT / "docs" / NAME, {"variants": _variants})


def _variants() -> Iterator[str]:
    cases = load_corpus(data_file("cases"), DEFAULT_PROTOCOL).values()
    have = sum(in_form(case, "avro") is not None for case in cases)
    yield f"{have} of the {len(cases)} written cases of Storage Read have an Avro variant,\n"
    yield "and so have all generated cases.\n"
