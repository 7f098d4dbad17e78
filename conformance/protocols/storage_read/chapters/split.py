"""The answers of SplitReadStream: two streams that together are the parent, or no streams.

The server decides where to divide the parent, and whether it can be divided. Reads of children are known by the
label of the split in their step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np

from conformance.contain.text import many
from conformance.contract.clause import AtCall, Violation, clause
from conformance.contract.offers import may_be_absent
from conformance.contract.sources import BEAM_SOURCE, ENDLESS_SPLITS, PROTOBUF, RECORDED, STORAGE_PROTO
from conformance.contract.strictanswers import malformed
from conformance.contract.subjects import answered
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.endings import beyond_its_end
from conformance.protocols.storage_read.contract.sessions import rows_of
from conformance.protocols.storage_read.contract.subjects import (
    is_child,
    refused,
    refused_as,
    served,
    valid_reads,
    was_split,
)
from conformance.protocols.storage_read.contract.view import ReadView, SplitView, StorageCall, StorageView
from conformance.protocols.storage_read.contract.violations import rows_differ
from conformance.records import Level

GOES_ON: Final = "Beam, which goes on with the parent if its reader has passed the split point (from its source)"


@once_per_view
def _valid(view: StorageView) -> list[SplitView]:
    return [split for split in view.splits if answered(split) and split.expected_codes == ("OK",)]


@once_per_view
def _answers(view: StorageView) -> list[SplitView]:
    return [split for split in _valid(view) if split.answer is not None]


def children_of(split: SplitView) -> tuple[str, str]:
    """Return the names of the primary and the remainder stream; empty if the split gave none."""
    return split.answer.primary_stream.name, split.answer.remainder_stream.name


@once_per_view
def _divided(view: StorageView) -> list[SplitView]:
    """Return the splits that gave two children."""
    return [split for split in _answers(view) if all(children_of(split))]


@clause(
    "split.request-is-served",
    over=_valid,
    source=(STORAGE_PROTO, RECORDED),
    breaks="Beam, if the status is UNKNOWN: it takes that for a lost connection (from its source)",
)
def request_is_served(split: SplitView) -> Iterator[Violation]:
    """SplitReadStream on a stream of a session ends in OK, even if the stream cannot be split."""
    yield from served(split, f"a split of {split.request.name!r} at {split.request.fraction}")


@clause(
    "split.answer-is-a-message",
    over=lambda view: [split for split in _valid(view) if split.ok],
    source=(PROTOBUF, STORAGE_PROTO),
)
def answer_is_a_message(split: SplitView) -> Iterator[Violation]:
    """A SplitReadStream call that ends in OK answers with one SplitReadStreamResponse."""
    broken = malformed(split.view, split.index, 0)
    if broken is not None:
        yield broken
    elif split.answer is None:
        yield Violation("one SplitReadStreamResponse", "a response that is no such message")


@clause(
    "split.answer-has-two-children-or-none",
    over=_answers,
    source=STORAGE_PROTO,
    breaks="Beam stops splitting or fails (from its source)",
)
def answer_has_two_children_or_none(split: SplitView) -> Iterator[Violation]:
    """The answer names both children, or neither if the stream cannot be split further."""
    primary, remainder = children_of(split)
    if bool(primary) != bool(remainder):
        yield Violation("two names or none", f"the primary {primary!r} and the remainder {remainder!r}")


@clause(
    "split.children-have-names-of-their-own",
    over=_divided,
    source=STORAGE_PROTO,
    breaks="Beam, which reads the primary in place of its parent and gives the remainder away (from its source)",
)
def children_have_names_of_their_own(split: SplitView) -> Iterator[Violation]:
    """The two children are new streams, different from their parent and from each other: the parent does not change."""
    primary, remainder = children_of(split)
    if len({primary, remainder, split.request.name}) < 3:
        yield Violation("three different streams", f"{split.request.name!r} split into {primary!r} and {remainder!r}")


@clause("split.children-are-below-the-session", over=_divided, source=STORAGE_PROTO, level=Level.SHOULD)
def children_are_below_the_session(split: SplitView) -> Iterator[Violation]:
    """The children's names are ``{session}/streams/{stream}``, below the session of their parent."""
    prefix = split.request.name.rpartition("/")[0] + "/"
    for field, name in zip(("primary_stream", "remainder_stream"), children_of(split), strict=True):
        if not name.startswith(prefix) or "/" in name[len(prefix) :] or name == prefix:
            yield Violation(f"a name of the form {prefix + '*'!r}", repr(name), field=field)


# --- rows -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Family(AtCall):
    """A split, with reads of its full parent and of both full children."""

    split: SplitView
    parent: ReadView
    primary: ReadView
    remainder: ReadView


def _full_read_of(view: StorageView, stream: str) -> ReadView | None:
    """Return the first full read of a stream, own or child, whose rows could be decoded."""
    return next(
        (read for read in view.reads if read.stream == stream and read.whole and rows_of(read) is not None), None
    )


@once_per_view
def families(view: StorageView) -> list[Family]:
    """Return every split whose parent and both children were read in full."""
    return _families(view, _divided(view))


def _families(view: StorageView, splits: Iterable[SplitView]) -> list[Family]:
    found = []
    for split in splits:
        parent, primary, remainder = (_full_read_of(view, n) for n in (split.request.name, *children_of(split)))
        if parent is not None and primary is not None and remainder is not None:
            found.append(Family(split.index, split, parent, primary, remainder))
    return found


@clause(
    "split.children-are-the-parent",
    over=families,
    source=STORAGE_PROTO,
    breaks="Beam loses or repeats rows (from its source)",
)
def children_are_the_parent(family: Family) -> Iterator[Violation]:
    """The rows of the primary child followed by those of the remainder are the rows of the parent, in its order."""
    parent, primary, remainder = (rows_of(read) for read in (family.parent, family.primary, family.remainder))
    assert parent is not None
    assert primary is not None
    assert remainder is not None
    if not np.array_equal(parent, np.concatenate([primary, remainder])):
        together = "the same rows in another order"
        if len(primary) + len(remainder) != len(parent):
            together = f"{len(primary)} and {many(len(remainder), 'row')}"
        elif sorted(parent.tolist()) != sorted([*primary.tolist(), *remainder.tolist()]):
            together = "as many rows, but others"
        yield Violation(f"the {many(len(parent), 'row')} of the parent, in order", together)


# --- a server without splits ----------------------------------------------------------------------


def _count(read: ReadView) -> int:
    rows = rows_of(read)
    return 0 if rows is None else len(rows)


@once_per_view
def _honoured_or_not(view: StorageView) -> list[Family | SplitView]:
    """Return the splits that a server may lack: those of a parent with all rows of the table, and those that gave no
    children. If the parent lacks rows itself, nothing is known of its children.
    """
    asked = [split for split in view.splits if may_be_absent(split.step) and answered(split)]
    given = [split for split in asked if split.answer is not None and all(children_of(split))]
    whole = [one for one in _families(view, given) if _count(one.parent) == view.table.num_rows]
    return [*whole, *(split for split in asked if split not in given)]


@clause(
    "split.request-is-not-ignored",
    over=_honoured_or_not,
    source=(STORAGE_PROTO, BEAM_SOURCE),
    breaks="Beam loses or repeats rows (from its source)",
)
def request_is_not_ignored(asked: Family | SplitView) -> Iterator[Violation]:
    """The children of a split together have each row of the parent once, or the split is refused or gives no children.

    This binds a server without splits, too: it refuses the call, with UNIMPLEMENTED, or answers without children, as
    for a stream that cannot be split. If it names the whole stream twice, a client reads each row twice.
    """
    if isinstance(asked, Family):
        parent, primary, remainder = (rows_of(read) for read in (asked.parent, asked.primary, asked.remainder))
        assert parent is not None
        assert primary is not None
        assert remainder is not None
        if sorted(parent.tolist()) != sorted([*primary.tolist(), *remainder.tolist()]):
            required = f"the {many(len(parent), 'row')} of the parent, once each, no children, or a refusal"
            yield Violation(required, f"{len(primary)} and {many(len(remainder), 'row')}")


@clause(
    "split.parent-is-still-served",
    over=lambda view: [read for read in valid_reads(view) if read.offset == 0 and was_split(read)],
    source=STORAGE_PROTO,
    breaks=GOES_ON,
)
def parent_is_still_served(read: ReadView) -> Iterator[Violation]:
    """A stream that was split can still be read from its start: a split adds children and removes nothing."""
    yield from served(read, "a read of the parent of a split")


@clause(
    "split.parent-is-unchanged",
    over=lambda view: [
        read
        for read in view.reads
        if read.whole and was_split(read) and rows_of(read) is not None and _full_read_of(view, read.stream) is not read
    ],
    source=STORAGE_PROTO,
    breaks=GOES_ON,
)
def parent_is_unchanged(read: ReadView) -> Iterator[Violation]:
    """A stream that was split gives all its rows, in the same order as before."""
    before = _full_read_of(read.view, read.stream)
    assert before is not None
    yield from rows_differ(before, read)


@clause(
    "split.child-is-served",
    over=lambda view: [read for read in valid_reads(view) if is_child(read) and read.offset == 0],
    source=STORAGE_PROTO,
    breaks="Beam, which splits streams (from its source)",
)
def child_is_served(read: ReadView) -> Iterator[Violation]:
    """A child of a split is a stream like any other: a read from its start ends in OK."""
    yield from served(read, f"a read of the child {read.stream!r}")


# --- offsets in children --------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class ChildResumed(AtCall):
    """A read of a child from an offset above zero, with the row count of the full child."""

    read: ReadView
    rows: int


def _resumed_children(*, beyond: bool) -> Callable[[StorageView], list[ChildResumed]]:
    def select(view: StorageView) -> list[ChildResumed]:
        found = []
        for read in view.reads:
            if is_child(read) and read.offset > 0 and answered(read):
                whole = _full_read_of(view, read.stream)
                rows = None if whole is None else rows_of(whole)
                if rows is not None and (read.offset > len(rows)) == beyond:
                    found.append(ChildResumed(read.index, read, len(rows)))
        return found

    return select


@clause(
    "split.child-resumes",
    over=lambda view: [one for one in _resumed_children(beyond=False)(view) if one.read.ok or one.read.reached],
    source=BEAM_SOURCE,
    breaks="Beam, which splits streams (from its source)",
)
def child_resumes(resume: ChildResumed) -> Iterator[Violation]:
    """A read of a child from an offset that earlier reads have reached ends in OK and gives its rows from there on.

    Offsets count from the child's own first row. The first child begins as its parent: reads of the parent reach it.
    """
    yield from served(resume.read, f"offset {resume.read.offset} of a child of {many(resume.rows, 'row')}")
    whole, rest = _full_read_of(resume.read.view, resume.read.stream), rows_of(resume.read)
    rows = None if whole is None else rows_of(whole)
    if (
        resume.read.ok
        and rows is not None
        and rest is not None
        and not np.array_equal(rows[resume.read.offset :], rest)
    ):
        required = f"the last {many(resume.rows - resume.read.offset, 'row')} of the child"
        yield Violation(required, f"{many(len(rest), 'row')} that are others", field="offset")


@clause(
    "split.beyond-the-child-is-refused",
    over=_resumed_children(beyond=True),
    source=BEAM_SOURCE,
    breaks="Beam, which learns from the refusal that its reader has passed the split point (from its source)",
)
def beyond_the_child_is_refused(resume: ChildResumed) -> Iterator[Violation]:
    """A read of a child from beyond its own number of rows is refused, even if the parent has such a row."""
    yield from refused(resume.read, f"offset {resume.read.offset} of a child of {many(resume.rows, 'row')}")


@clause(
    "split.beyond-the-child-has-its-code",
    over=lambda view: [resume for resume in _resumed_children(beyond=True)(view) if not resume.read.ok],
    source=BEAM_SOURCE,
    level=Level.SHOULD,
    breaks="Beam, which catches exactly this code (from its source)",
)
def beyond_the_child_has_its_code(resume: ChildResumed) -> Iterator[Violation]:
    """A read of a child from beyond its own number of rows ends in FAILED_PRECONDITION."""
    yield from beyond_its_end(resume.read)


# --- ending ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Chain(AtCall):
    """A chain of splits, each of a child of the previous one: ``length`` splits, of a first parent that stands for at
    most ``rows`` rows of its table.
    """

    last: SplitView
    rows: int
    length: int


@once_per_view
def _chains(view: StorageView) -> list[Chain]:
    """Return the chains of splits that are longer than their first parent has rows, or that ended in an empty
    answer.
    """
    before: dict[str, SplitView] = {}
    for split in _divided(view):
        before.update(dict.fromkeys(children_of(split), split))
    found = []
    for last in _answers(view):
        length, first = 1, last
        while first.request.name in before and length <= len(view.splits):
            length, first = length + 1, before[first.request.name]
        read = _full_read_of(view, first.request.name)
        rows = None if read is None else _rows_to_divide(read)
        if rows is not None and length > 1 and (length > rows or not any(children_of(last))):
            found.append(Chain(last.index, last, rows, length))
    return found


def _rows_to_divide(read: ReadView) -> int | None:
    """Return the most rows among which a stream that was read in full can be split: those before a restriction or a
    sampling. How many of its table's rows a stream stands for is not known then.
    """
    delivered, step = rows_of(read), None if read.session is None else read.session.step
    if delivered is None or step is None:
        return None
    filtered = bool(step.row_restriction) or step.sample_percentage is not None
    return read.view.table.num_rows if filtered else len(delivered)


@clause(
    "split.splitting-ends",
    over=_chains,
    source=ENDLESS_SPLITS,
    level=Level.SHOULD,
    breaks="Beam splits without end (from its source)",
)
def splitting_ends(chain: Chain) -> Iterator[Violation]:
    """Splitting children of children ends: a stream of n rows cannot be divided more than n times in a row.

    The end is an empty answer, after which clients stop splitting. In a session with a restriction or a sample, n is
    the number of the table's rows: a split divides the rows before they are filtered.
    """
    if any(children_of(chain.last)):
        yield Violation(
            f"an empty answer within {many(chain.rows, 'split')}", f"children again at split {chain.length}"
        )


# --- fractions ------------------------------------------------------------------------------------


@clause(
    "split.fraction-outside-is-refused",
    over=refused_as("split-fraction-outside"),
    source=STORAGE_PROTO,
    level=Level.SHOULD,
)
def fraction_outside_is_refused(call: StorageCall) -> Iterator[Violation]:
    """A fraction below 0, or of 1 and more, is refused: the value has to be strictly between 0 and 1.

    A client without the argument sends 0; the service's answer to it is not known, so it is not judged.
    """
    yield from refused(call, f"fraction {call.request.fraction}")


@clause(
    "split.fraction-that-is-no-number-is-refused",
    over=refused_as("split-fraction-no-number"),
    source=STORAGE_PROTO,
    level=Level.SHOULD,
)
def fraction_that_is_no_number_is_refused(call: StorageCall) -> Iterator[Violation]:
    """The fraction NaN is refused: it is not between 0 and 1, although no comparison finds it outside.

    A client sends it if it divides 0 rows by 0. The answer of the service is not recorded.
    """
    yield from refused(call, f"fraction {call.request.fraction}")
