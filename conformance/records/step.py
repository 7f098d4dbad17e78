"""What all steps have in common, whatever their protocol: the expected answer, and which steps there are."""

from __future__ import annotations

from typing import ClassVar

from conformance.records.base import record

__all__ = ["CallStep", "Expect", "RowsStep", "Step"]


@record
class Expect:
    """The expected result of a step: the permitted statuses, and the rows of a success.

    ``codes`` is the set of permitted gRPC status names. A freedom that the contract leaves is written here and not
    in prose.
    ``reason`` is the reason class of an expected refusal (``unknown-column``, ``malformed-restriction`` …): a
    refusal with another reason does not count.
    ``rows`` are indices into the case's table, in no order; without them every row that the session can see is
    expected.
    """

    codes: tuple[str, ...] = ("OK",)
    reason: str = ""
    rows: tuple[int, ...] | None = None


@record
class Step:
    """One step of a case; ``TAG`` names its kind in JSON.

    A step that is no :class:`CallStep` makes no call of the API under test, so that nothing is expected of an answer.
    """

    TAG: ClassVar[str]


class CallStep(Step):
    """A step that makes calls, and says what is expected of their answers."""

    __slots__ = ()

    expect: Expect


class RowsStep(CallStep):
    """A step that sends rows of the case's table: ``count`` of them from number ``first``, or all if that is None."""

    __slots__ = ()

    first: int
    count: int | None
