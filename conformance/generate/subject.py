"""The input of mutation: legal bytes, and the places in them at which a change has the most effect."""

from __future__ import annotations

import dataclasses
import functools
from typing import Final

from conformance.generate.mangling import messages_of
from conformance.wire import Kind, Message, RegionKind, Schema, dissect, read_schema

__all__ = ["Anatomy", "LegalBytes"]

_NUMBERS: Final = frozenset(
    {RegionKind.PREFIX, RegionKind.VTABLE, RegionKind.TABLE, RegionKind.VECTOR, RegionKind.STRING}
)


@dataclasses.dataclass(frozen=True, slots=True)
class Anatomy:
    """The places in bytes: of all numbers of the metadata, of the body lengths among them, and of the messages."""

    numbers: tuple[int, ...]
    body_lengths: tuple[int, ...]
    messages: tuple[Message, ...]


@dataclasses.dataclass(frozen=True)  # without slots, for the cached property
class LegalBytes:
    """Legal bytes to start from.

    ``parts`` are one byte string; for bare messages, a schema message and the batches that follow it, which are
    judged by
    ``profile``.
    """

    name: str
    kind: Kind
    parts: tuple[bytes, ...]
    profile: str = ""

    @functools.cached_property
    def anatomies(self) -> tuple[Anatomy, ...]:
        """The anatomy of each part."""
        schema: Schema | None = None
        found = []
        for number, part in enumerate(self.parts):
            regions = dissect(part, schema if number else None, self.kind).regions
            found.append(
                Anatomy(
                    tuple(region.start for region in regions if region.kind in _NUMBERS),
                    tuple(
                        region.start
                        for region in regions
                        if region.kind is RegionKind.TABLE and region.meaning == "bodyLength"
                    ),
                    tuple(messages_of(part)),
                )
            )
            if number == 0 and self.kind is Kind.MESSAGE:
                schema = read_schema(part).schema
        return tuple(found)
