"""The output of a writer, compared with its input: the same columns, the same values.

The clauses apply only if the input is known. The writer may choose the encoding of values and the division of rows
into batches; names, types and values have to be preserved. Of a tensor, it may choose strides and padding, and which
zeros of a sparse one it stores.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa

from conformance.contain.parse import ForeignJsonError, parse_json
from conformance.contract.clause import SEQUENCES, Role, Violation, clause
from conformance.contract.comparing.columnlists import names_differ, names_listed
from conformance.contract.ipc.written import (
    EXTENSION_METADATA,
    EXTENSION_NAME,
    Written,
    batches_attached,
    encoded_pairs,
    file_attached,
    kind_of,
    read_back,
    rows_written,
    written,
)
from conformance.contract.ipc.writtentensor import (
    WrittenTensor,
    first_difference,
    form_of,
    values_written,
    written_tensor,
)
from conformance.contract.sources import COLUMNAR, FILE_FBS, TENSOR_FORMAT, Inferred
from conformance.records import Level
from conformance.wire import KeyValues, differences
from conformance.wire.intervals import IntervalType

SCHEMA_MESSAGE: Final = f"{COLUMNAR}#schema-message"
METADATA: Final = f"{COLUMNAR}#custom-application-metadata"
EXTENSIONS: Final = f"{COLUMNAR}#extension-types"
ENCODED: Final = f"{COLUMNAR}#dictionary-encoded-layout"
SERIALIZED: Final = f"{COLUMNAR}#serialization-and-interprocess-communication-ipc"
MAX_DIFFERENCES: Final = 5
LOST: Final = "readers of the output: it differs from the input"

_clause = functools.partial(clause, over=written, breaks=LOST, profiles=SEQUENCES, role=Role.WRITER)


@_clause("written.names", source=SCHEMA_MESSAGE)
def names(one: Written) -> Iterator[Violation]:
    """The columns have the given names, in their order; names may repeat, be empty and have any content."""
    if said := names_differ(one.schema.names, one.found.names):
        yield Violation(f"the columns {names_listed(one.schema.names)}", f"{said}: {names_listed(one.found.names)}")


@_clause("written.types", source=SCHEMA_MESSAGE)
def types(one: Written) -> Iterator[Violation]:
    """Every field, at any depth, has the given type, with all its parameters.

    Extension types count as their storage, dictionary-encoded fields as their values.
    """
    for pair in one.pairs:
        given, found = kind_of(pair.given.type), kind_of(pair.found.type)
        if given != found:
            yield Violation(f"{pair.given.type}", f"{pair.found.type}", pair.path)


@_clause(
    "written.nullable",
    source=SCHEMA_MESSAGE,
    level=Level.SHOULD,
    breaks="readers that compare schemas, or use types of their own for fields that are not nullable",
)
def nullable(one: Written) -> Iterator[Violation]:
    """Every field is nullable exactly if it was given so: no layout depends on it, but round trips have to keep it."""
    for pair in one.pairs:
        if pair.given.nullable != pair.found.nullable:
            yield Violation(_nullable(pair.given), _nullable(pair.found), pair.path)


def _nullable(field: pa.Field) -> str:
    return "nullable" if field.nullable else "not nullable"


@_clause(
    "written.child-names",
    source=SCHEMA_MESSAGE,
    level=Level.SHOULD,
    breaks="readers that compare schemas exactly",
)
def child_names(one: Written) -> Iterator[Violation]:
    """The fields below columns have the given names; those of lists and maps are conventional."""
    for pair in one.pairs:
        if pair.below and pair.given.name != pair.found.name:
            yield Violation(repr(pair.given.name), repr(pair.found.name), pair.path)


@_clause("written.extension-names", source=EXTENSIONS)
def extension_names(one: Written) -> Iterator[Violation]:
    """A field of an extension type still has its extension name, whether or not the library supports the type.

    A library that does not support an extension handles its storage, and passes on name and metadata.
    """
    for pair in one.pairs:
        given, found = _extension(pair.given), _extension(pair.found)
        if given and given != found:
            yield Violation(f"the extension name {given!r}", repr(found) if found else "none", pair.path)


def _extension(field: pa.Field) -> str:
    if isinstance(field.type, IntervalType):  # a type of the format; pyarrow alone has no class for it
        return ""
    if isinstance(field.type, pa.BaseExtensionType):
        return str(field.type.extension_name)
    name: bytes = (field.metadata or {}).get(EXTENSION_NAME, b"")
    return name.decode(errors="replace")


@_clause(
    "written.field-metadata",
    source=METADATA,
    level=Level.SHOULD,
)
def field_metadata(one: Written) -> Iterator[Violation]:
    """Every pair of metadata that a field was given is still at that field; a writer may add its own.

    The JSON of an extension type may be written in another way: a library that supports the type writes it again.
    """
    for pair in one.pairs:
        if missing := _missing(pair.given.metadata, pair.found.metadata):
            yield Violation(f"the pairs {_clip(missing)}", _clip(pair.found.metadata or {}), pair.path)


@_clause(
    "written.schema-metadata",
    source=METADATA,
    level=Level.SHOULD,
)
def schema_metadata(one: Written) -> Iterator[Violation]:
    """Every pair of metadata that the schema was given is still at the schema; a writer may add its own."""
    if missing := _missing(one.schema.metadata, one.found.metadata):
        yield Violation(f"the pairs {_clip(missing)}", _clip(one.found.metadata or {}))


@_clause("written.batch-metadata", over=batches_attached, source=METADATA, level=Level.SHOULD)
def batch_metadata(one: Written) -> Iterator[Violation]:
    """Every pair of metadata that a writer was given with a batch is at the message of the batch.

    A writer that divides a batch keeps the pairs at each part. It may add its own.
    """
    for number, message in enumerate(one.batches):
        yield from _lost(one, message.custom_metadata, f"record batch {number}")


@_clause("written.file-metadata", over=file_attached, source=FILE_FBS, level=Level.SHOULD, profiles=("ipc-file",))
def file_metadata(one: Written) -> Iterator[Violation]:
    """Every pair of metadata that a writer was given for a file is in its footer; a writer may add its own."""
    footer = one.view.file.footer if one.view.file is not None else None
    yield from _lost(one, footer.metadata if footer is not None else (), "Footer.custom_metadata")


def _lost(one: Written, there: KeyValues, place: str) -> Iterator[Violation]:
    """The pairs that were to be attached and are not there."""
    assert one.view.attached is not None, "the selectors take only what was to have metadata"
    missing = {key: value for key, value in one.view.attached.pairs.items() if (key, value) not in there}
    if missing:
        yield Violation(f"the pairs {_clip(missing)}", _clip(dict(there)), place)


def _missing(given: Mapping[bytes, bytes] | None, found: Mapping[bytes, bytes] | None) -> dict[bytes, bytes]:
    there = found or {}
    return {key: value for key, value in (given or {}).items() if not _is_kept(key, value, there.get(key))}


def _is_kept(key: bytes, given: bytes, found: bytes | None) -> bool:
    if given == found or found is None or key != EXTENSION_METADATA:
        return given == found
    try:
        return bool(parse_json(given) == parse_json(found))
    except ForeignJsonError:
        return False


@_clause(
    "written.encoding",
    over=encoded_pairs,
    source=ENCODED,
    level=Level.SHOULD,
    breaks="readers that use categories: they get plain values, or indices of another width",
)
def encoding(one: Written) -> Iterator[Violation]:
    """A dictionary-encoded field stays dictionary-encoded, with the same index type, and ordered if it was."""
    for pair in one.pairs:
        if pa.types.is_dictionary(pair.given.type) and _encoding(pair.given) != _encoding(pair.found):
            yield Violation(_encoding(pair.given), _encoding(pair.found), pair.path)


def _encoding(field: pa.Field) -> str:
    if not pa.types.is_dictionary(field.type):
        return "plain values"
    return f"{'ordered ' if field.type.ordered else ''}indices of {field.type.index_type}"


@_clause("written.rows", over=rows_written, source=COLUMNAR)
def rows(one: Written) -> Iterator[Violation]:
    """The rows are the given ones: the same values and nulls, in the same order, none lost and none repeated."""
    assert one.rows is not None, "the selector takes only rows that can be decoded"
    given, found = one.rows
    if len(given.columns) == len(found.columns):
        for difference in differences(given, type(found)(given.names, found.columns, found.rows), MAX_DIFFERENCES):
            yield Violation("the rows that were given", difference)


@_clause(
    "written.reads-back",
    over=read_back,
    source=Inferred(SERIALIZED),
    level=Level.SHOULD,
    breaks="programs that store data with a library and read it with the same one",
)
def reads_back(one: Written) -> Iterator[Violation]:
    """The library that wrote the bytes reads them.

    The format exists so that data can be stored and passed on. A library that lacks the feature may say so; what cannot
    be decoded at all fails other clauses.
    """
    if one.view.read_back:
        yield Violation("rows, when the same library reads what it wrote", _clip(one.view.read_back))


def _clip(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


# --- tensors -----------------------------------------------------------------------------------------

_tensor_clause = functools.partial(
    clause,
    over=written_tensor,
    breaks="readers of the tensor: it differs from the input",
    source=TENSOR_FORMAT,
    profiles=("ipc-tensor",),
    role=Role.WRITER,
)


@_tensor_clause("written.tensor-shape")
def tensor_shape(one: WrittenTensor) -> Iterator[Violation]:
    """The dimensions have the given sizes, in their order."""
    if one.found.shape != one.given.shape:
        yield Violation(f"the shape {one.given.shape}", f"{one.found.shape}", "shape")


@_tensor_clause("written.tensor-type")
def tensor_type(one: WrittenTensor) -> Iterator[Violation]:
    """The values have the given type, with all its parameters."""
    if str(one.found.type) != str(one.given.type):
        yield Violation(f"{one.given.type}", f"{one.found.type}", "type")


@_tensor_clause("written.tensor-names", level=Level.SHOULD, breaks="programs that find a dimension by its name")
def tensor_names(one: WrittenTensor) -> Iterator[Violation]:
    """The dimensions have the given names. A dimension without a name may have an empty one, and the reverse."""
    given, found = (tuple(name or "" for name in each.names) for each in (one.given, one.found))
    if found != given and len(found) == len(given):
        yield Violation(f"the names {given}", f"{found}", "shape")


@_tensor_clause("written.tensor-form", level=Level.SHOULD, breaks="readers that expect the form that was written")
def tensor_form(one: WrittenTensor) -> Iterator[Violation]:
    """A dense tensor is written as a dense one, and a sparse tensor in the form of its index."""
    if form_of(one.found) != form_of(one.given):
        yield Violation(form_of(one.given), form_of(one.found), "header")


@_tensor_clause("written.tensor-values", over=values_written)
def tensor_values(one: WrittenTensor) -> Iterator[Violation]:
    """Every position has the value that was given, bit for bit; a sparse tensor has zeros where it stores nothing."""
    assert one.values is not None, "the selector takes only values that can be decoded"
    given, found = one.values
    if given.shape == found.shape and given.dtype == found.dtype:
        place = first_difference(given, found)
        if place is not None:
            yield Violation(f"{given[place]!s} at {list(place)}", f"{found[place]!s}", "data")
