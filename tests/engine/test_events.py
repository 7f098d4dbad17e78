"""What a log holds of a run can be shown to a person, and what contradicts itself is refused."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.engine.events import ExchangeRecorded, Line, SuiteBroke
from conformance.protocol import protocol_names
from conformance.records import RecordError
from tests.engine.samples import sample_call, sample_case, sample_exchange


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            Line(0, "ff ff ff ff", "prefix", "a message follows"),
            "  0x0000  ff ff ff ff                prefix: a message follows",
        ),
        (Line(4, "10", "length", "16", marked=True), "> 0x0004  10                         length: 16"),
        (Line(70_000, "00", "", "."), "  0x11170  00                         ."),
        (Line(16, "00", " ", ""), "  0x0010  00"),
        (Line(1, "", "a\nb", "c\x1bd"), r"  0x0001                             a\nb: c\x1bd"),
    ],
)
def test_a_line_shows_offset_bytes_field_and_meaning(line: Line, shown: str) -> None:
    """An arrow marks a line at fault; foreign text moves nothing."""
    assert str(line) == shown


def test_an_exchange_is_of_its_case() -> None:
    """The id, the protocol and the steps of the calls are those of the case."""
    case = sample_case("a")
    last = len(case.steps) - 1
    good = sample_exchange("a", dataclasses.replace(sample_call(), step=last))

    assert ExchangeRecorded(case, good).exchange is good
    for wrong, place in [
        (dataclasses.replace(good, case_id="b"), "exchange.case_id"),
        (
            dataclasses.replace(good, protocol=next(one for one in protocol_names() if one != case.protocol)),
            "protocol",
        ),
        (sample_exchange("a", dataclasses.replace(sample_call(), step=last + 1)), r"exchange.calls\[0\].step"),
        (sample_exchange("a", sample_call(), dataclasses.replace(sample_call(), step=-1)), r"exchange.calls\[1\].step"),
    ]:
        with pytest.raises(RecordError, match=place):
            ExchangeRecorded(case, wrong)


def test_a_traceback_keeps_its_lines_and_nothing_that_moves_the_cursor() -> None:
    """It is a block of several lines, each of them safe to print."""
    assert SuiteBroke("a", "one\n  two\x1b[2J").traceback == "one\n  two\\x1b[2J"
