"""The body of a batch: its buffers are cut out, checked against its bounds and, if compressed, decompressed.

The judges of columns work on a :class:`Body`, which also computes the position of each fault.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Final, overload

from conformance.contain.text import many
from conformance.wire.compression import DecompressionBudget, Wrong, decompress
from conformance.wire.faults import Fault, Rule, report
from conformance.wire.hints import byte_swapped
from conformance.wire.layout import LayoutPlan, Mask, Op

__all__ = ["Body"]

MAX_PADDING: Final = 64
"""Bytes between two buffers that still count as padding are fewer than this.

The format recommends 64 bytes as the widest alignment, so that padding takes at most 63 bytes
(https://arrow.apache.org/docs/format/Columnar.html#buffer-alignment-and-padding).
"""

SMALL: Final = 1 << 14
"""Bytes of a body up to which a copy costs next to nothing."""

_ZEROS: Final = [bytes(length) for length in range(MAX_PADDING)]
_EMPTY: Final = memoryview(b"")


Change = Callable[[LayoutPlan, tuple[int, ...], Sequence[memoryview | None]], list[memoryview | None]]
"""Makes the buffers of a plan, whose first ones of each op are given, from other buffers."""


class Body:
    """The buffers of one batch, and their faults.

    ``data`` are the bytes of the body that are present, ``base`` is the offset of the first one, ``length`` the length
    that is declared.
    ``contents`` contains each buffer's bytes, decompressed; None if they cannot be read.
    ``broken`` contains the indices of the ops whose buffers are not safe to follow.
    ``packed`` contains each buffer's bytes as they are stored, while a compressed body is judged.
    ``stored`` is False for a compressed body: an element then has no position of its own in the file.
    ``shown`` remembers which slots of one op are live, because each of its children asks for them.
    ``extent`` limits the slots for which liveness is computed: one per bit of the body, and some for small bodies.
    """

    __slots__ = (
        "base",
        "broken",
        "contents",
        "data",
        "extent",
        "faults",
        "length",
        "lengths",
        "nodes",
        "nodes_at",
        "offsets",
        "packed",
        "plan",
        "shown",
        "starts",
        "stored",
    )

    def __init__(
        self,
        data: memoryview,
        base: int,
        length: int,
        *,
        plan: LayoutPlan,
        faults: list[Fault],
        nodes: tuple[int, ...],
        nodes_at: int,
    ) -> None:
        self.data = data
        self.base = base
        self.length = length
        self.plan = plan
        self.faults = faults
        self.nodes = nodes
        self.nodes_at = nodes_at
        self.starts = plan.starts
        self.offsets: tuple[int, ...] = ()
        self.lengths: tuple[int, ...] = ()
        self.contents: Sequence[memoryview | None] = ()
        self.packed: list[memoryview | None] = []
        self.broken: set[int] = set()
        self.stored = True
        self.shown: tuple[Op, int, Mask | None] | None = None
        self.extent = 8 * min(length, len(data)) + 1024

    # --- cutting ------------------------------------------------------------------------------------

    def cut(self, buffers: tuple[int, ...]) -> None:
        """Cut the buffers out of the body: ``buffers`` are offset and length of each buffer in turn.

        One pass handles a body without faults; any doubt starts :meth:`_diagnose`, which reports each fault.
        """
        self.offsets, self.lengths = buffers[::2], buffers[1::2]
        contents: list[memoryview | None] = []
        body, length = self.data, self.length
        self.contents = contents
        # Writers put the buffers end to end, in the order of the flattened fields, each at a multiple of 8 bytes
        # (https://arrow.apache.org/docs/format/Columnar.html#recordbatch-message and #buffer-alignment-and-padding).
        limit, end = len(body), 0
        # Slices of bytes compare faster than slices of a view.
        padding = bytes(body) if limit <= SMALL else body
        for offset, count in zip(self.offsets, self.lengths, strict=True):
            if not count and offset >= 0:
                contents.append(_EMPTY)
                continue
            gap, stop = offset - end, offset + count
            if count < 0 or not 0 <= gap < MAX_PADDING or offset & 7 or stop > limit:
                break
            if gap and padding[end:offset] != _ZEROS[gap]:
                break
            contents.append(body[offset:stop])
            end = stop
        else:
            gap = length - end
            if length > limit or (gap < MAX_PADDING and padding[end:] == _ZEROS[gap]):
                return
        self._diagnose()

    def _diagnose(self) -> None:
        """Cut the buffers out again, slowly, and report each fault."""
        contents: list[memoryview | None] = []
        self.contents = contents
        size = len(self.data)
        inside: list[tuple[int, int, int]] = []
        for number, (offset, count) in enumerate(zip(self.offsets, self.lengths, strict=True)):
            content: memoryview | None = None
            if offset < 0:
                self._wrong(Rule.BUFFER_OFFSET_NEGATIVE, number, f"an offset of {offset}{self._swapped(offset)}")
            elif count < 0:
                self._wrong(Rule.BUFFER_LENGTH_NEGATIVE, number, f"a length of {count}{self._swapped(count)}")
            elif count == 0:
                content = _EMPTY
            elif offset + count > self.length:
                hint = self._swapped(count if offset <= self.length else offset)
                observed = f"bytes {offset} to {offset + count} of a body of {many(self.length, 'byte')}{hint}"
                self._wrong(Rule.BUFFER_OUT_OF_BODY, number, observed)
            else:
                if offset & 7:
                    self._wrong(Rule.BUFFER_UNALIGNED, number, f"an offset of {offset}")
                inside.append((offset, offset + count, number))
                if offset + count <= size:
                    content = self.data[offset : offset + count]
            contents.append(content)
        self._diagnose_order(inside)
        for number in self._diagnose_gaps(sorted(inside), size):
            # The shared bytes are not decoded twice: otherwise any number of columns could each make the judges
            # read the full body.
            contents[number] = None

    def _swapped(self, number: int) -> str:
        return byte_swapped(number, 8, range(self.length + 1).__contains__)

    def _diagnose_order(self, inside: list[tuple[int, int, int]]) -> None:
        for (before, _, _), (start, end, number) in itertools.pairwise(inside):
            if start < before:
                self._wrong(Rule.BUFFER_ORDER, number, f"bytes {start} to {end}, after a buffer at {before}")
                return

    def _diagnose_gaps(self, inside: list[tuple[int, int, int]], size: int) -> list[int]:
        """Report bytes between buffers, and buffers that share bytes with one before; return the latter."""
        shared: list[int] = []
        covered, last = 0, -1
        dirty: list[tuple[int, int]] = []
        # If the body is truncated, the gap before a buffer beyond its end counts up to that end only.
        reached = [(min(start, size), min(end, size), number) for start, end, number in inside]
        for start, end, number in [*reached, (size, size, -1)]:
            if start < covered and number >= 0:
                self._wrong(Rule.BUFFER_OVERLAP, number, f"bytes {start} to {end}, shared with {self.name(last)!r}")
                shared.append(number)
            if start - covered >= MAX_PADDING:
                place = self.base + covered, self.base + start
                report(
                    self.faults,
                    Rule.BODY_UNACCOUNTED,
                    place,
                    "body",
                    f"{many(start - covered, 'byte')} that belong to no buffer",
                )
            elif start > covered and bytes(self.data[covered:start]).strip(b"\0"):
                dirty.append((covered, start))
            if end > covered:
                covered, last = end, number
        if dirty:
            place = self.base + dirty[0][0], self.base + dirty[0][1]
            observed = f"{many(len(dirty), 'run')} of padding with other bytes than zero, the first at byte {place[0]}"
            report(self.faults, Rule.BODY_PADDING_NONZERO, place, "body", observed)
        return shared

    def decompress(self, codec: str, budget: DecompressionBudget) -> None:
        """Replace every buffer by its decompressed bytes; a buffer that does not decompress becomes None."""
        self.stored = False
        self.packed = list(self.contents)
        left = budget.of_message(len(self.data))
        made = _decompressed(self.packed, codec, left, lambda number: functools.partial(self._wrong_stored, number))
        size = sum(len(content or b"") for content in made)
        budget.spend(size)
        self.contents = made
        self.packed = [None if content is None else one for content, one in zip(made, self.packed, strict=True)]
        self.extent += 8 * size

    def release(self, codec: str, budget: DecompressionBudget, change: Change | None) -> None:
        """Let go of decompressed bytes beyond what the budget keeps; they are decompressed again when asked for.

        ``change`` was made to the bytes after they were decompressed, and is made again.
        """
        if not budget.keeps(sum(len(content or b"") for content in self.contents)):
            whole = None if change is None else functools.partial(change, self.plan, self.starts)
            self.contents = _Released(self.packed, codec, budget, whole)
        self.packed = []

    # --- positions of faults ------------------------------------------------------------------------

    def owner(self, number: int) -> tuple[Op, str] | None:
        """The op that buffer ``number`` belongs to and the buffer's role; None if there is no such op."""
        # An op without buffers starts where the next one does; bisecting to the right finds the op that has the buffer.
        found = bisect.bisect_right(self.starts, number) - 1
        if found < 0:
            return None
        op = self.plan.ops[found]
        return op, self._role(op, number)

    def name(self, number: int) -> str:
        """The field path and role of buffer ``number``."""
        owner = self.owner(number)
        return f"buffer {number}" if owner is None else f"{owner[0].path} {owner[1]}"

    def _wrong_stored(self, number: int, rule: Rule, observed: str) -> None:
        self._wrong(rule, number, observed)

    def _wrong(self, rule: Rule, number: int, observed: str) -> None:
        limit = self.base + len(self.data)
        start = min(self.base + max(0, self.offsets[number]), limit)
        end = max(start, min(start + self.lengths[number], limit))
        report(self.faults, rule, (start, end), self.name(number), observed)

    def fault(self, rule: Rule, op: Op, number: int, observed: str, *, element: tuple[int, int] | None = None) -> None:
        """Report that buffer ``number`` of ``op`` breaks ``rule``; ``element`` is a slot and its width.

        An element of a compressed buffer has no position of its own: the fault then spans the stored buffer.
        """
        slot, width = element or (0, 0)
        within = None if element is None else (slot * width, (slot + 1) * width)
        report(self.faults, rule, self.span(number, within), self._path(op, number), observed)

    def span(self, number: int, within: tuple[int, int] | None = None) -> tuple[int, int]:
        """The place of buffer ``number``, or of the bytes ``within`` it if they are stored as they are."""
        # An empty buffer may declare any offset, even one beyond the body.
        start = self.base + min(self.offsets[number], len(self.data))
        end = start + self.lengths[number]
        if within is None or not self.stored:
            return start, end
        return start + within[0], min(start + within[1], end)

    def node_fault(self, rule: Rule, op: Op, observed: str) -> None:
        """Report that the op's field node breaks ``rule``."""
        start = self.nodes_at + 16 * op.index
        report(self.faults, rule, (start, start + 16), op.path, observed)

    def broke(self, op: Op) -> None:
        """Record that the op's buffers are unsafe to follow."""
        self.broken.add(op.index)

    def _path(self, op: Op, number: int) -> str:
        return f"{op.path} {self._role(op, number)}"

    def _role(self, op: Op, number: int) -> str:
        place = number - self.starts[op.index]
        return op.roles[place] if place < len(op.roles) else f"data {place - len(op.roles)}"


def _decompressed(
    packed: Sequence[memoryview | None], codec: str, budget: DecompressionBudget, wrong: Callable[[int], Wrong]
) -> list[memoryview | None]:
    """The decompressed bytes of each buffer, None for one that does not decompress."""
    return [
        content if content is None or not len(content) else decompress(content, codec, budget, wrong(number))
        for number, content in enumerate(packed)
    ]


class _Released(Sequence[memoryview | None]):
    """The buffers of a compressed body, decompressed when one is asked for; a budget holds those of one body.

    It refers to no body: what is no longer used goes at once, without the garbage collector.
    """

    def __init__(
        self,
        packed: list[memoryview | None],
        codec: str,
        budget: DecompressionBudget,
        change: Callable[[list[memoryview | None]], list[memoryview | None]] | None,
    ) -> None:
        self._packed = packed
        self._codec = codec
        self._budget = budget
        self._change = change

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> memoryview | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[memoryview | None]: ...
    def __getitem__(self, index: int | slice) -> memoryview | list[memoryview | None] | None:
        """The buffer, or buffers."""
        return self._all()[index]

    def _all(self) -> list[memoryview | None]:
        again = self._budget.again
        if again is not None and again[0] is self._packed:
            return again[1]
        self._budget.again = None  # before the next one is made
        unlimited = DecompressionBudget(0, lambda: sys.maxsize)
        made = _decompressed(self._packed, self._codec, unlimited, lambda _: _known_already)
        made = made if self._change is None else self._change(made)
        self._budget.again = self._packed, made
        return made


def _known_already(_rule: Rule, _observed: str) -> None:
    """A fault was reported when the buffers were decompressed for the first time."""
