"""``docs/combinations.md``: the factors of combined vectors, and everything that is excluded from them, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import Final

from conformance.engine.combining import READING_EXCLUSIONS
from conformance.readers.ipc.job import READ_OPTIONS
from conformance.reference.ipc.combined import EXCLUSIONS, FACTORS, THREES, Exclusion, rows
from conformance.reference.ipc.combined.writerchoices import FORMS
from conformance.reference.ipc.rare import PREFIX, RARE
from conformance.reference.ipc.rare.inside import CONTAINERS, INSIDE

__all__ = ["NAME", "text"]

NAME: Final = "combinations.md"

_HEAD: Final = """\
# Everything legal with everything legal

<!-- made by `python -m publish.refresh`; a test fails where this file is out of date -->

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

_RARE: Final = """
## Rare legal input

`--combinations` also adds {count} inputs that are in no covering array, since most of what they have does not go
together with anything else. They are made when they are read: the longest have more than a megabyte. Each reader gets
each once without options, and again under each value of `way` and `after`, one at a time; inputs on ends come under
each value of every option, and long ones once, because they are the slowest.

| ids | what they are | inputs |
|---|---|---|
{families}
A test holds the suite's own decoder to all of them. A reader may refuse those of which the text is in doubt:

| id | why |
|---|---|
{open}"""

_FAMILIES: Final = {
    "long": "Thousands of columns, of dictionaries, of batches without rows, and of times that one dictionary is sent.",
    "value": "The least and the greatest values of each unit of dates, times, timestamps, durations and intervals, and"
    " those that a finer unit cannot hold.",
    "zone": "Time zones of each form that the text permits.",
    "end": "Streams and files that end in a message without a body: a batch without rows, without columns or of the"
    " null type, a schema alone, a dictionary without values; streams with an end marker and without, in each framing.",
    "null": "Unions whose rows are null in different children, by themselves and as values of runs.",
    "union": "Unions of as many children as there are type ids.",
    "inside": "Each of {layouts} layouts inside each of {containers} containers, without dictionaries of"
    " dictionaries and runs of runs.",
}

_OPTIONS: Final = """
| form | what it is |
|---|---|
{forms}
Sizes: *several* is three batches, one of which has no rows; *zero* a batch without rows; *one* one row; *one-valued*
rows of one value; *hollow* values with nothing inside, such as text without bytes, lists without items, structs without
children and dictionaries without values.

## Options of the reading

`included_fields` is a projection to the middle column of three, or to the two around it. `after` is a way out of the
library: its values have to be those before (`reader.ways-out-agree`). The validation of pyarrow is not an option but a
reader of its own, `pyarrow-validated`; that of Arrow Java is `after="validated"`.

| option | meaning |
|---|---|
{options}
No Python interface has a decoder that is pushed bytes: `chunk` pushes them into `StreamDecoder` of Arrow C++ (the
adapter `arrow-cpp`), into Apache Arrow JavaScript and, of streams, into arrow-rs. It is a file object for the libraries
in Python. Slices are those of the libraries for Go, Java and JavaScript. Concatenation is also that of Go and arrow-rs.
Validation, copies, appending and hashes are those of Arrow Java. Casts are not driven in these four; of them, arrow-rs
alone exports rows over the C data interface. Rows are taken by pyarrow, polars, arro3 and arrow-rs; for arrow-rs, the
type ids of unions are compared, too, which the plain value of a null does not show.

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
    return head + factors + _OPTIONS.format(forms=forms, options=options) + "".join(_excluded()) + _rare()


def _rare() -> str:
    """The section on rare input."""
    counts = Counter(name.split(".")[1] for name in RARE)
    sizes = {"layouts": len(INSIDE), "containers": len(CONTAINERS)}
    families = "".join(
        f"| `{PREFIX}.{name}.*` | {_FAMILIES[name].format(**sizes)} | {count} |\n" for name, count in counts.items()
    )
    open_ = "".join(f"| `{each.id}` | {each.open} |\n" for each in RARE.values() if each.open)
    return _RARE.format(count=len(RARE), families=families, open=open_)


def _listed(values: Iterable[Hashable]) -> str:
    return ", ".join(f"`{value}`" if value else "none" for value in values)


def _excluded() -> Iterator[str]:
    exclusions: tuple[Exclusion, ...] = (*EXCLUSIONS, *READING_EXCLUSIONS)
    for each in exclusions:
        yield f"| {each.name} | {each.why} | {each.source or 'follows from the words'} |\n"
