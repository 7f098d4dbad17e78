"""Finds the positions at which two byte strings with the same content differ, each with the rule that permits it.

Both byte strings are dissected, and regions with the same label are compared. Labels contain the message's number.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterator
from typing import Final

from conformance.contain.text import keep_safe
from conformance.wire import Kind
from conformance.wire.closed import BufferRole, RegionKind
from conformance.wire.dissect import Region, dissect

__all__ = ["LabelledDifference", "differing_places"]

MOST: Final = 12
"""Positions listed per difference: the first messages show a difference that all messages have."""

_COLUMNAR: Final = "https://arrow.apache.org/docs/format/Columnar.html"
_FLATBUFFERS: Final = "https://flatbuffers.dev/internals/"


@dataclasses.dataclass(frozen=True, slots=True)
class LabelledDifference:
    """One labelled region that differs; ``start`` to ``end`` are its bytes in the new form, or in the old if ``gone``.

    ``permitted`` names the freedom that the format gives a writer here, with its source; it is empty if no sentence of
    the format mentions it, so that only the judging of all rules permits the difference.
    """

    label: str
    start: int
    end: int
    old: str
    new: str
    permitted: str = ""
    gone: bool = False

    def __post_init__(self) -> None:
        keep_safe(self, "label", "old", "new")


def differing_places(container: str, old: bytes, new: bytes) -> tuple[LabelledDifference, ...]:
    """The first differences between ``old`` and ``new``; at least one if the bytes differ at all.

    Differences in padding come last, because they follow from the others.
    """
    found = list(_compare(dict(_labelled(container, old)), dict(_labelled(container, new))))
    if not found and old != new:
        at = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        words = f"FlatBuffers objects may stand in any order and distance, {_FLATBUFFERS}"
        found = [LabelledDifference("places of the metadata's objects", at, len(new), "", "", words)]
    return tuple(sorted(found, key=lambda place: place.label.endswith("padding"))[:MOST])


OUTSIDE: Final = -1
"""The number in place of a message's for the magic and the footer of a file."""

_Key = tuple[int, str, str, int]
_Held = tuple[Region, bytes]


def _labelled(container: str, data: bytes) -> Iterator[tuple[_Key, _Held]]:
    dissection = dissect(data, kind=Kind(container))
    messages = dissection.messages
    counts: collections.Counter[tuple[int, str, str]] = collections.Counter()
    for region in dissection.regions:
        number = next((n for n, message in enumerate(messages) if message.start <= region.start < message.end), OUTSIDE)
        path = _part(region, messages[number].metadata_end if number != OUTSIDE else len(data))
        counts[number, path, region.meaning] += 1
        key = number, path, region.meaning, counts[number, path, region.meaning]
        yield key, (dataclasses.replace(region, path=path), data[region.start : region.end])


def _part(region: Region, metadata_end: int) -> str:
    """The region's path; for padding, which has none, the part of the message that contains it."""
    if region.kind is not RegionKind.PADDING:
        return region.path
    return "metadata" if region.start < metadata_end else "body"


def _compare(old: dict[_Key, _Held], new: dict[_Key, _Held]) -> Iterator[LabelledDifference]:
    for key, (region, content) in new.items():
        if key not in old:
            yield LabelledDifference(
                _label(key), region.start, region.end, "absent", _shown(region, content), _permission(region)
            )
            continue
        before, was = old[key]
        if content != was and _value(before, was) != _value(region, content):
            words = _permission(region)
            yield LabelledDifference(
                _label(key), region.start, region.end, _shown(before, was), _shown(region, content), words
            )
    for key, (region, content) in old.items():
        if key not in new:
            words = _permission(region)
            yield LabelledDifference(
                _label(key), region.start, region.end, _shown(region, content), "absent", words, gone=True
            )


def _label(key: _Key) -> str:
    number, path, meaning, _ = key
    where = "" if number == OUTSIDE else f"message {number}, "
    return f"{where}{path}: {meaning}" if path else f"{where}{meaning}"


def _value(region: Region, content: bytes) -> str | bytes:
    """The value for comparison; references and vtable entries depend on positions only, so that they are left out."""
    if region.value.startswith(("→", "at ")):
        return region.value.partition(" ")[2].partition(" ")[2] if region.value.startswith("→") else "present"
    return content


def _shown(region: Region, content: bytes) -> str:
    return region.value or content[:16].hex(" ") + (" …" if len(content) > 16 else "")


def _permission(region: Region) -> str:
    """The sentence of the format that lets a writer choose here; empty if there is no such sentence."""
    return next((words for fits, words in _PERMISSIONS if fits(region)), "")


_PERMISSIONS: Final[tuple[tuple[Callable[[Region], bool], str], ...]] = (
    (
        lambda region: region.kind is RegionKind.PADDING and region.path == "metadata",
        f"objects are aligned by padding, which may lie anywhere between them, {_FLATBUFFERS}",
    ),
    (
        lambda region: region.kind is RegionKind.PADDING,
        f"buffers and metadata may be padded further than to 8 bytes, {_COLUMNAR}#buffer-alignment-and-padding",
    ),
    (
        lambda region: region.kind is RegionKind.VTABLE,
        f"a slot may be left out where it has its default, and vtables may be shared, {_FLATBUFFERS}",
    ),
    (
        lambda region: "custom_metadata" in region.path or region.meaning == "custom_metadata",
        f"metadata pairs are free, and have no order, {_COLUMNAR}#custom-application-metadata",
    ),
    (
        lambda region: region.path.endswith(".buffers") or region.meaning == "buffers",
        f"buffers lie anywhere in the body at multiples of 8, {_COLUMNAR}#recordbatch-message",
    ),
    (
        lambda region: region.meaning == BufferRole.VALIDITY and region.kind is RegionKind.BUFFER,
        f"a bitmap may be left out where nothing is null, {_COLUMNAR}#validity-bitmaps",
    ),
    (
        lambda region: region.kind is RegionKind.PREFIX or region.meaning == "bodyLength",
        f"lengths follow from what they count, {_COLUMNAR}#encapsulated-message-format",
    ),
    (
        lambda region: region.path in ("Footer.dictionaries", "Footer.recordBatches", "tail"),
        f"the footer follows from the places of the messages, {_COLUMNAR}#ipc-file-format",
    ),
    (
        lambda region: region.kind in (RegionKind.TABLE, RegionKind.VECTOR) and region.value.startswith(("→", "at ")),
        f"objects of the metadata may stand in any order, {_FLATBUFFERS}",
    ),
)
