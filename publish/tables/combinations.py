"""``docs/combinations.md``: the factors of combined vectors, and everything that is excluded from them, by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Final

from conformance.engine.combining import READING_EXCLUSIONS
from conformance.readers.ipc.job import READ_OPTIONS
from conformance.reference.ipc.combined import EXCLUSIONS, FACTORS, THREES, Exclusion, rows
from conformance.reference.ipc.combined.forms import FORMS

__all__ = ["NAME", "text"]

NAME: Final = "combinations.md"

_HEAD: Final = """\
# Everything legal with everything legal

<!-- made by `python -m publish.tables`; a test fails where this file is out of date -->

`conformance read --combinations` adds vectors in which legal features meet. They are a covering array: every two values
of different factors occur together in a vector, and so does every three of these:
{threes}. The suite's own writer makes {count} vectors, always the same, and
the id of each names all of its values. The suite's own decoder is a reader like any other: a test holds it to all of
them.

Each reader gets each vector plainly, and again under the options that its interface has, so that every two values of
bytes and options occur together. A reader of streams alone gets files as streams. A remark in the report counts the
combinations that the reader was given, and those in which it did not say that it lacks a feature. Tests count the
coverage again.

## Factors of the bytes

| factor | values |
|---|---|
"""

_OPTIONS: Final = """
| form | what it is |
|---|---|
{forms}
Sizes: *several* is three batches, one of which has no rows; *zero* a batch without rows; *one* one row; *one-valued*
rows of one value; *hollow* values with nothing inside, such as text without bytes, lists without items, structs without
children and dictionaries without values.

## Options of the reading

`included_fields` is a projection to the middle column of three, or to the two around it. `after` is a way out of the
library: its values have to be those before (`reader.ways-out-agree`). Validation is not an option but a reader of its
own, `pyarrow-validated`.

| option | meaning |
|---|---|
{options}
No Python interface has a decoder that is pushed bytes: `chunk` pushes them into `StreamDecoder` of Arrow C++ (the
adapter `arrow-cpp`) and into Apache Arrow JavaScript, and streams into that of arrow-rs, and is a file object for the
libraries in Python. Concatenation and the C data interface are driven in arrow-rs too, and casts are not; none of them
is driven in the libraries for Go, Java and JavaScript.

## What is excluded

| name | excluded, because | source |
|---|---|---|
"""


def text() -> str:
    """The content of the file."""
    threes = [name for name in FACTORS if name in THREES]
    head = _HEAD.format(threes=f"{', '.join(threes[:-1])} and {threes[-1]}", count=len(rows()))
    factors = "".join(f"| {name} | {_listed(values)} |\n" for name, values in FACTORS.items())
    forms = "".join(f"| `{form.name}` | {form.what} |\n" for form in FORMS.values())
    options = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in READ_OPTIONS.items())
    return head + factors + _OPTIONS.format(forms=forms, options=options) + "".join(_excluded())


def _listed(values: Iterable[Hashable]) -> str:
    return ", ".join(f"`{value}`" if value else "none" for value in values)


def _excluded() -> Iterator[str]:
    exclusions: tuple[Exclusion, ...] = (*EXCLUSIONS, *READING_EXCLUSIONS)
    for each in exclusions:
        yield f"| {each.name} | {each.why} | {each.source or 'follows from the words'} |\n"
