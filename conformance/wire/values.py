"""Judging of the values of fixed-size columns: decimals, times, dates in milliseconds, dictionary indices.

A judge checks all values first; only if one breaks the rule does it ask which slots are live.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from conformance.contain.text import many
from conformance.wire.body import Body
from conformance.wire.faults import Rule
from conformance.wire.layout import Mask, Op
from conformance.wire.liveness import live

__all__ = ["DecimalBounds", "judge_values"]

SMALL: Final = 64
"""The largest number of values for which plain Python is faster than numpy."""
CHUNK: Final = 1 << 16

_DAY_MS: Final = 86_400_000
_CODES: Final = {1: "b", 2: "h", 4: "i", 8: "q"}


def judge_values(body: Body, op: Op, rule: Rule, content: memoryview, number: int) -> None:
    """Judge the values in buffer ``number``, which has one for each slot of ``op``, under the op's ``value_rule``."""
    _JUDGES[rule](body, op, body.nodes[2 * op.index], content, number)


def _report(body: Body, op: Op, number: int, rule: Rule, wrong: Callable[[int, int], Mask]) -> None:
    """Report the live slots that break ``rule``.

    ``wrong`` is called chunk by chunk with the first slot and the end of the chunk, and returns the mask of the slots
    that break the rule.
    """
    length, content = body.nodes[2 * op.index], body.contents[number]
    mask: Mask | None = None
    slot, count = -1, 0
    for start in range(0, length, CHUNK):
        stop = min(start + CHUNK, length)
        found = wrong(start, stop)
        if not found.any():
            continue
        if mask is None:
            mask = live(body, op, length)
            if mask is None:
                return
        found = found & mask[start:stop]
        count += int(found.sum())
        if slot < 0 and count:
            slot = start + int(found.argmax())
    if count and content is not None:
        width = op.width
        value = int.from_bytes(content[slot * width : (slot + 1) * width], "little", signed=True)
        body.fault(
            rule, op, number, f"the value {value} in slot {slot} ({many(count, 'such slot')})", element=(slot, width)
        )


def _time(body: Body, op: Op, length: int, content: memoryview, number: int) -> None:
    """A time of day is at least 0 and less than one day."""
    limit: int = op.parameter
    if length <= SMALL:
        listed = struct.unpack_from(f"<{length}{_CODES[op.width]}", content)
        if min(listed) >= 0 and max(listed) < limit:
            return
    array = np.frombuffer(content, f"<i{op.width}", length)

    def wrong(start: int, stop: int) -> Mask:
        chunk = array[start:stop]
        return (chunk < 0) | (chunk >= limit)

    _report(body, op, number, Rule.TIME_RANGE, wrong)


def _date64(body: Body, op: Op, length: int, content: memoryview, number: int) -> None:
    """A date in milliseconds is a whole number of days."""
    # Schema.fbs, table Date: values in milliseconds are evenly divisible by 86400000.
    array = np.frombuffer(content, "<i8", length)
    _report(body, op, number, Rule.DATE64_WHOLE_DAYS, lambda start, stop: array[start:stop] % _DAY_MS != 0)


def _indices(body: Body, op: Op, length: int, content: memoryview, number: int) -> None:
    """A dictionary index is not negative."""
    array = np.frombuffer(content, f"<i{op.width}", length)
    _report(body, op, number, Rule.DICTIONARY_INDEX_NEGATIVE, lambda start, stop: array[start:stop] < 0)


@dataclasses.dataclass(frozen=True, slots=True)
class DecimalBounds:
    """The smallest magnitude that a precision cannot represent, as 64-bit words, the lowest word first.

    ``above`` is 10 ** precision and ``below`` its negative, in two's complement: the highest word is signed.
    """

    above: tuple[int, ...]
    below: tuple[int, ...]

    @classmethod
    def of(cls, width: int, precision: int) -> Self:
        """The bounds of a decimal of ``width`` bits; a width under 64 gives one word."""
        limit = 10**precision
        return cls(_words(limit, max(width, 64)), _words(-limit, max(width, 64)))


def _words(value: int, width: int) -> tuple[int, ...]:
    raw = value.to_bytes(width // 8, "little", signed=True)
    words = [int.from_bytes(raw[at : at + 8], "little") for at in range(0, len(raw) - 8, 8)]
    return (*words, int.from_bytes(raw[-8:], "little", signed=True))


def _decimal(body: Body, op: Op, length: int, content: memoryview, number: int) -> None:
    """A decimal has no more digits than its precision."""
    bounds: DecimalBounds = op.parameter
    top, bottom = bounds.above[-1], bounds.below[-1]
    words = len(bounds.above)
    if length <= SMALL:
        listed = struct.unpack_from(f"<{length * words}{_CODES[min(op.width, 8)]}", content)[words - 1 :: words]
        # A value between the highest words of both bounds, exclusive, is in range whatever its lower words are.
        if max(listed) < top and min(listed) > bottom:
            return
    if words == 1:
        single = np.frombuffer(content, f"<i{op.width}", length)
        _report(
            body,
            op,
            number,
            Rule.DECIMAL_PRECISION,
            lambda start, stop: (single[start:stop] >= top) | (single[start:stop] <= bottom),
        )
        return
    high = np.frombuffer(content, "<i8", length * words)[words - 1 :: words]
    low = np.frombuffer(content, "<u8", length * words).reshape(length, words)

    def wrong(start: int, stop: int) -> Mask:
        chunk = high[start:stop]
        found: Mask = (chunk >= top) | (chunk <= bottom)
        if found.any():
            found[found] = _beyond(chunk[found], low[start:stop][found], bounds)
        return found

    _report(body, op, number, Rule.DECIMAL_PRECISION, wrong)


def _beyond(high: npt.NDArray[Any], low: npt.NDArray[Any], bounds: DecimalBounds) -> Mask:
    """A mask of the values that are outside the bounds, compared word by word from the highest down."""
    above, below = high > bounds.above[-1], high < bounds.below[-1]
    tied_above, tied_below = high == bounds.above[-1], high == bounds.below[-1]
    for word in range(len(bounds.above) - 2, -1, -1):
        column = low[:, word]
        up, down = np.uint64(bounds.above[word]), np.uint64(bounds.below[word])
        above |= tied_above & (column > up)
        below |= tied_below & (column < down)
        tied_above &= column == up
        tied_below &= column == down
    outside: Mask = above | below | tied_above | tied_below
    return outside


_JUDGES: Final[dict[Rule, Callable[[Body, Op, int, memoryview, int], None]]] = {
    Rule.DICTIONARY_INDEX_NEGATIVE: _indices,
    Rule.DECIMAL_PRECISION: _decimal,
    Rule.TIME_RANGE: _time,
    Rule.DATE64_WHOLE_DAYS: _date64,
}
