"""One cause in at most eight lines: what came, what was expected, the byte, who is hurt, and how to see more.

Everything else about it is in ``conformance explain``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from conformance.contain.text import APART, many, told_apart
from conformance.contract.offers import profile_of
from conformance.contract.profilerow import CORE
from conformance.contract.wholecase import EXPLAINED
from conformance.engine.causes import Cause
from conformance.engine.events import Evidence
from conformance.engine.result import Deviation
from conformance.report.bytelines import hex_width, meaning_of
from conformance.report.terminallayout import UNBOUNDED, commanded, cut

__all__ = ["MOST", "print_card"]

_ABSENT: Final = re.compile(r"(?:^|\bended in )UNIMPLEMENTED\b")
"""The status by which a server says that it does not have a method, or an option of one."""
IGNORED: Final = frozenset({
    "compression.lz4-frame-is-applied", "compression.zstd-is-applied", "compression.payload-size-is-set",
})  # fmt: skip
"""The clauses that fail where a server ignores a codec, which it may if it does not offer codecs."""
MOST: Final = 7
"""The lines of a card; one more if its commands need several."""
SURE: Final = 2
"""The lines of bytes at fault that are shown whatever else there is to say."""
LONGEST: Final = 120
"""The longest line where nobody has a width, as in a file: a card is for reading."""
_LABEL: Final = 10
_DIFFERENCE: Final = 20
"""The characters that are shown of two texts from their first difference on, if both are cut before it."""
_ADDRESS: Final = re.compile(r":? ?\(?https?://\S+")

Line = tuple[tuple[str, str], ...]
"""The parts of a line, each with its style."""


def print_card(console: Console, number: int, cause: Cause, replay: str, explain: str) -> None:
    """Print the first deviation of a cause; ``explain`` is the command that shows the rest."""
    file = console.width >= UNBOUNDED
    width = LONGEST if file else console.width
    lines = [_head(number, cause, width), *_facts(cause.own[0], width)]
    more = [*_more(explain, replay, UNBOUNDED if file else width)]
    most = MOST + (len(more) > 1)
    evidence = cause.own[0].evidence
    shown = 0 if evidence is None else min(SURE, sum(line.marked for line in evidence.lines))
    # The commands are always there, and bytes at fault; `explain` tells the rest.
    notes = [*_hurts(cause.own[0], width), *_declared(cause, width)]
    end = [*notes[: max(0, most - len(lines) - shown - len(more))], *more]
    if evidence is not None:
        lines += _bytes(evidence, max(most - len(lines) - len(end), shown), width)
    for line in (*lines, *end):
        console.print(Text.assemble(*line))


def _head(number: int, cause: Cause, width: int) -> Line:
    call = f", call {cause.call}" if cause.call is not None else ""
    more = f", {many(len(cause.failing), 'case')}" if len(cause.failing) > 1 else ""
    more += f", blocks {many(len(cause.blocks), 'clause')}" if cause.blocks else ""
    more += f", {cause.own[0].frequency}" if cause.own[0].frequency else ""
    level = f"  {cause.level.upper()}{' through another clause' if cause.by_echo else ''}{_role(cause)}"
    name = cut(cause.clause, width - len(f"✗ {number} {level}"))
    head = f"✗ {number} "
    room = width - len(head) - len(name) - len(level) - 2
    place = f"{cause.smallest}{call}{more}"
    rest = next((f"  {one}" for one in (place, f"{cause.smallest}{more}", cause.smallest) if len(one) <= room), "")
    return (head, "bold red"), (name, _linked(cause.clause)), (level, "red"), (rest, "")


def _linked(clause_id: str) -> str:
    """The style of a clause's name: a terminal that shows links (OSC 8) leads to the source of the requirement."""
    clause = EXPLAINED.get(clause_id)
    return f"bold link {clause.source}" if clause is not None and "://" in clause.source else "bold"


def _role(cause: Cause) -> str:
    """Whose fault it is, of a server that is an application on top of a library."""
    clause = EXPLAINED.get(cause.clause)
    return f" ({clause.role})" if clause is not None and clause.fault_of else ""


def _fact(label: str, text: str, width: int, style: str = "") -> Line:
    head = f"  {label:<{_LABEL}}"
    return (head, "bold"), (cut(" ".join(text.split()), width - len(head)), style)


def _facts(deviation: Deviation, width: int) -> Iterator[Line]:
    """What came and what was expected, in one line if both fit."""
    finding = deviation.finding
    got, want, field = " ".join(deviation.text.split()), " ".join(deviation.required.split()), ""
    room = width - 2 - _LABEL
    if finding is not None and finding.field and not got.startswith(finding.field):
        field = f"{cut(finding.field, max(room // 3, room - len(got) - 2))}: "
        room -= len(field)
    if cut(got, room) == cut(want, room) and got != want:
        # The screen has no place for both: where they differ is what matters.
        got, want = told_apart(got, want, max(room - APART - _DIFFERENCE, 1), difference=_DIFFERENCE)
    got = f"{field}{got}"
    if want and 2 + _LABEL + len(got) + len("      want  ") + len(want) <= width:
        yield ("  got       ", "bold"), (got, "red"), ("      want  ", "bold"), (want, "")
        return
    yield _fact("got", got, width, "red")
    if want:
        yield _fact("want", want, width)


def _bytes(evidence: Evidence, room: int, width: int) -> Iterator[Line]:
    """The first line of bytes at fault, as far as there is room its others, and then the line before."""
    marks = [place for place, line in enumerate(evidence.lines) if line.marked]
    if not marks or room < 1:
        return
    begin = evidence.finding.start or 0
    fault = next((place for place in marks if evidence.lines[place].offset >= begin), marks[0])
    at_fault = sum(place >= fault for place in marks)
    first = max(0, fault - (room > at_fault))
    shown = evidence.lines[first : first + room]
    shown = shown[: marks[-1] + 1 - first]
    finding = evidence.finding
    size = 0 if finding.start is None or finding.end is None else finding.end - finding.start
    these = "this byte" if size == 1 else f"these {size} bytes" if room >= at_fault else f"{size} bytes from here"
    begins = evidence.lines[fault]
    note = f"  ← {these}" if size else ""
    before = len("  > 0x0000    ") + max(len(line.hex) for line in shown)
    if before + len(meaning_of(begins)) + len(note) > width >= before * 3 // 2:
        note = ""  # `>` says which bytes, and they can be counted; what they mean is said nowhere else
    longest = hex_width(shown, width, len(note))
    for line in shown:
        said = note if line is begins else ""
        meaning = meaning_of(line)
        head = f"  {'>' if line.marked else ' '} 0x{line.offset:04x}  {line.hex:<{longest}}  "
        if len(head) > width * 2 // 3:
            head, meaning = cut(head.rstrip(), width - len(said)), ""
        text = head + cut(meaning, max(width - len(head) - len(said), 0)) if meaning else head
        yield (text, "bold red" if line.marked else ""), (said, "bold")


def _hurts(deviation: Deviation, width: int) -> Iterator[Line]:
    clause = EXPLAINED.get(deviation.clause)
    if clause is not None and clause.breaks:
        yield _fact("hurts", _ADDRESS.sub("", clause.breaks), width)


def _declared(cause: Cause, width: int) -> Iterator[Line]:
    """How to say that the server does not offer what it refused as not implemented, or ignored as it may."""
    profile = profile_of(cause.clause)
    if profile != CORE and (cause.clause in IGNORED or _ABSENT.search(cause.own[0].text)):
        yield _fact("or", f'declare it: not_offered = ["{profile}"] in the target file', width)


def _more(explain: str, replay: str, width: int) -> Iterator[Line]:
    """How to see more, and to see it again: on one line, or on several."""
    label, space = f"  {'more':<{_LABEL}}", " " * (2 + _LABEL)
    together = f"{explain} · {replay}"
    if len(label) + len(together) <= width:
        yield (label, "bold"), (together, "green")
        return
    for head, command in ((label, explain), (space, replay)):
        for line in commanded(command, width, head=head):
            yield (line[: len(label)], "bold"), (line[len(label) :], "green")
