"""Mutants of files: magic, Footer, and its lists of blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from conformance.reference.flatbuffers import SHARED_FIRST, write
from conformance.reference.ipc.models import MAGIC, FileModel
from conformance.reference.ipc.register import STANDARD, mutant
from conformance.wire.faults import Rule

__all__ = ["Blocks", "change_blocks"]

_SOME: Final = ("rows.several", "dictionary.two", "nested.mixed")
_SEVERAL: Final = ("rows.several",)
Blocks = list[tuple[int, int, int]]
Change = Callable[[FileModel], FileModel | bytes | None]


def _with(**parts: Any) -> Change:
    """The file with other bytes around its Footer."""
    return lambda model: dataclasses.replace(model, **parts)


def _saying(**slots: Any) -> Change:
    """The file whose Footer has other values; None is an absent slot."""

    def changed(model: FileModel) -> None:
        model.footer = {name: reported for name, reported in {**model.footer, **slots}.items() if reported is not None}

    return changed


def _schema(change: Callable[[dict[str, Any]], object]) -> Change:
    """The file whose Footer has another schema than its stream."""

    def changed(model: FileModel) -> bytes:
        before, footer = model.complete()
        footer["schema"] = dict(footer["schema"])
        change(footer["schema"])
        return model.assemble(before, footer)

    return changed


def _first_field(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Change:
    """The file whose Footer has another first field than its stream."""
    return _schema(lambda schema: schema.update(fields=[change(schema["fields"][0]), *schema["fields"][1:]]))


def change_blocks(change: Callable[[Blocks], Blocks], name: str = "recordBatches") -> Callable[[FileModel], bytes]:
    """The file with one of the Footer's lists of blocks changed."""

    def changed(model: FileModel) -> bytes:
        before, footer = model.complete()
        footer[name] = change(list(footer[name]))
        return model.assemble(before, footer)

    return changed


# fmt: off
mutant("file.magic-missing", Rule.FILE_MAGIC_START, kind="file", on=_SOME,
       fault="The file begins with eight zeros instead of the magic.")(_with(lead=bytes(8)))
mutant("file.magic-of-old", Rule.FILE_MAGIC_START, kind="file", on=_SOME,
       fault="The file begins with the magic of the first Feather format.")(_with(lead=b"FEA1\0\0\0\0"))
mutant("file.magic-unpadded", (Rule.METADATA_TRUNCATED, Rule.BLOCK_OFFSET_NOT_MULTIPLE_OF_8, Rule.BLOCK_NOT_IN_STREAM),
       kind="file", on=_SOME, source="https://issues.apache.org/jira/browse/ARROW-3236",
       fault="The stream follows the magic at once, without the two bytes of padding.")(_with(lead=MAGIC))
mutant("file.trail-missing", Rule.FILE_MAGIC_END, kind="file", on=_SOME,
       fault="The magic at the end is missing: the writer was not finished.")(_with(trail=b""))
# fmt: on


@mutant("file.cut-off", Rule.FILE_MAGIC_END, kind="file", on=_SOME)
def cut_off(model: FileModel) -> bytes:
    """The file ends with its stream; the writer was never closed."""
    before, _ = model.complete()
    return before


@mutant(
    "file.overwritten",
    Rule.FILE_OVERWRITTEN,
    kind="file",
    on=_SOME,
    source="https://github.com/apache/arrow/issues/34809",
)
def overwritten(model: FileModel) -> bytes:
    """The file was written over the beginning of a longer one, whose end with its footer is still there."""
    before, footer = model.complete()
    newer = model.assemble(before, footer)
    return newer + bytes(64) + newer[len(before) :]


# fmt: off
mutant("file.trail-padded", Rule.FILE_MAGIC_END, kind="file", on=_SOME,
       fault="The magic at the end is padded like the one at the start.")(_with(trail=MAGIC + bytes(2)))
mutant("file.footer-length-zero", Rule.FOOTER_LENGTH_NOT_POSITIVE, kind="file", on=_SOME,
       fault="The Footer's length is 0.")(_with(length=0))
mutant("file.footer-length-negative", Rule.FOOTER_LENGTH_NOT_POSITIVE, kind="file", on=_SOME,
       fault="The Footer's length is negative.")(_with(length=-8))
mutant("file.footer-length-beyond", Rule.FOOTER_OUT_OF_RANGE, kind="file", on=_SOME,
       fault="The Footer's length is more than the file has.")(_with(length=1 << 30))
mutant("file.footer-length-highest", Rule.FOOTER_OUT_OF_RANGE, kind="file", on=_SOME,
       fault="The Footer's length is the highest that there is.")(_with(length=(1 << 31) - 1))
# fmt: on


@mutant("file.footer-root-beyond", Rule.FLATBUF_ROOT, kind="file", on=_SOME)
def root_beyond(model: FileModel) -> bytes:
    """The Footer's root table is beyond the Footer."""
    before, footer = model.complete()
    data = b"\xff\xff\xff\x7f" + write("Footer", footer, layout=SHARED_FIRST)[4:]
    return before + data + len(data).to_bytes(4, "little") + MAGIC


@mutant("file.footer-empty-table", (Rule.FOOTER_SCHEMA_MISSING, Rule.FOOTER_VERSION_DIFFERS), kind="file", on=_SOME)
def empty_table(model: FileModel) -> bytes:
    """The Footer is a table without any slot."""
    before, _ = model.complete()
    return model.assemble(before, {})


# fmt: off
mutant("file.footer-schema-missing", Rule.FOOTER_SCHEMA_MISSING, kind="file", on=_SOME,
       source="https://github.com/apache/arrow-rs/pull/10744",
       fault="The Footer has no schema.")(
    _saying(schema=None))
mutant("file.footer-version-differs", Rule.FOOTER_VERSION_DIFFERS, kind="file", on=_SOME,
       source="https://github.com/apache/arrow-julia/pull/321",
       fault="The Footer says V4, the stream V5.")(_saying(version=3))
mutant("file.footer-version-absent", Rule.FOOTER_VERSION_DIFFERS, kind="file", on=_SOME,
       fault="The Footer says no version, which means V1.")(_saying(version=None))
mutant("file.footer-version-unknown", Rule.MESSAGE_VERSION_UNKNOWN, kind="file", on=_SOME,
       fault="The Footer says a version that is not defined.")(_saying(version=9))
mutant("file.footer-field-renamed", Rule.FOOTER_SCHEMA_DIFFERS, kind="file", on=_SOME,
       fault="A field has another name in the Footer than in the stream.")(
    _first_field(lambda field: {**field, "name": "other"}))
mutant("file.footer-nullability", Rule.FOOTER_SCHEMA_DIFFERS, kind="file", on=_SEVERAL,
       fault="A field is nullable in the stream, and not in the Footer.")(
    _first_field(lambda field: {**field, "nullable": 0}))
mutant("file.footer-ids-differ", Rule.FOOTER_SCHEMA_DIFFERS, kind="file", on=("dictionary.two",),
       also={Rule.DICTIONARY_ID_UNKNOWN: "the Footer's fields name other dictionaries",
             Rule.DICTIONARY_MISSING: "the Footer's fields name other dictionaries"},
       source="https://github.com/apache/arrow-rs/pull/6711",
       fault="A field has another dictionary's id in the Footer than in the stream.")(
    _first_field(lambda field: {**field, "dictionary": {**field["dictionary"], "id": 77}}))
mutant("file.footer-endianness", Rule.FOOTER_SCHEMA_DIFFERS, kind="file", on=("types.int32",),
       source="https://github.com/apache/arrow/pull/49968",
       fault="The Footer says big-endian, the stream little-endian.")(
    _schema(lambda schema: schema.update(endianness=1)))
mutant("file.footer-schema-metadata", Rule.FOOTER_SCHEMA_DIFFERS, kind="file", on=("names.schema-metadata",),
       fault="The schema's metadata is missing in the Footer.")(
    _schema(lambda schema: schema.pop("custom_metadata")))
mutant("file.footer-metadata-missing", Rule.FOOTER_METADATA_DIFFERS, kind="file", on=_SOME,
       choices={"opening_metadata": {"k": "v"}},
       fault="The first message has metadata, and the Footer none.")(_saying(custom_metadata=None))
# fmt: on


@mutant(
    "file.dictionary-replaced", Rule.FILE_DICTIONARY_REPLACED, kind="file", on=("dictionary.same", "dictionary.two")
)
def dictionary_replaced(model: FileModel) -> None:
    """A dictionary is defined twice, neither time as a delta."""
    model.stream.messages.insert(len(model.stream.messages) - 1, model.stream.dictionaries[0])


# fmt: off
mutant("file.delta-order", Rule.FILE_DELTA_ORDER, kind="file", on=("dictionary.deltas",),
       also={Rule.BLOCK_ORDER: "the Footer's order is not the stream's"},
       fault="The Footer lists two deltas in the wrong order, so that they are applied so.")(
    change_blocks(lambda blocks: [blocks[0], blocks[2], blocks[1], *blocks[3:]], "dictionaries"))
mutant("file.dictionary-unlisted", (Rule.BLOCK_UNLISTED, Rule.DICTIONARY_MISSING), kind="file", on=("dictionary.two",),
       fault="The Footer does not list a dictionary that its batches need.")(
    change_blocks(lambda blocks: blocks[1:], "dictionaries"))
mutant("file.lost-batch", Rule.BLOCK_UNLISTED, kind="file", on=("rows.several",),
       fault="The Footer lists no batch, although the stream has three.")(
    change_blocks(lambda _: []))
# fmt: on


@mutant("file.second-schema", Rule.STREAM_SECOND_SCHEMA, kind="file", on=STANDARD)
def second_schema(model: FileModel) -> None:
    """The stream inside has its schema twice."""
    model.stream.messages.append(model.stream.schema)


@mutant("file.index-beyond", Rule.DICTIONARY_INDEX_RANGE, kind="file", on=("dictionary.index-int32",))
def index_beyond(model: FileModel) -> None:
    """An index points beyond the end of the dictionary, wherever in the file the dictionary is."""
    part = next(part for part in model.stream.batches[0].parts if part.role == "indices")
    part.data = b"\x63\0\0\0" + part.data[4:]


@mutant("file.dictionary-missing", Rule.DICTIONARY_MISSING, kind="file", on=("dictionary.index-int32",))
def dictionary_missing(model: FileModel) -> None:
    """The file has no dictionary batch for its encoded column."""
    model.stream.messages = [model.stream.schema, *model.stream.batches]


@mutant("file.delta-without-base", Rule.DICTIONARY_DELTA_WITHOUT_BASE, kind="file", on=("dictionary.index-int32",))
def delta_without_base(model: FileModel) -> None:
    """The file's only definition of a dictionary is a delta."""
    model.stream.dictionaries[0].header["isDelta"] = 1
