"""The published table of interrupted reads: it fits its schema, its sources are known, its instructions can happen."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import jsonschema
import pytest

from conformance.contract.sources import evidence_of
from conformance.disk.files import data_file
from conformance.records import FaultKind, RecordError
from conformance.replay.retrytable import ReadOutcome, RetryTest, read_table, table_schema
from conformance.replay.trials import RESPONSES, recording_of

TESTS = read_table().tests
PREFIX = 5


def test_the_table_fits_its_schema() -> None:
    """A program in another language needs the schema and nothing else."""
    jsonschema.validate(json.loads(data_file("golden", "read_retry.json").read_text("utf-8")), table_schema())


def test_every_test_has_an_id_of_its_own() -> None:
    """Ids are how a client asks for a trial."""
    assert len({test.id for test in TESTS}) == len(TESTS)


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.id)
def test_sources_state_their_kind_of_evidence(test: RetryTest) -> None:
    """Each test has a source, and the kind is the one that the suite knows for the address."""
    assert test.sources
    assert [source.evidence for source in test.sources] == [evidence_of(source.url) for source in test.sources]


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.id)
def test_an_error_is_always_permitted(test: RetryTest) -> None:
    """A client may give up. After a permanent error it has to, and need not ask again."""
    assert ReadOutcome.ERROR in test.permitted
    assert (test.should is ReadOutcome.ERROR) == (test.permitted == (ReadOutcome.ERROR,)) == (test.should_calls == 1)


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.id)
def test_instructions_can_happen(test: RetryTest) -> None:
    """They are about responses and streams that a trial has; a number of bytes is in the middle of a message."""
    stream = next(recording_of(test, "x").answers.tapes.streams())
    ends = list(itertools.accumulate(PREFIX + len(data) for data in stream.responses))
    most = RESPONSES if test.instructions[0].method == "ReadRows" else 0

    for one in test.instructions:
        assert one.responses <= most
        assert one.stream is None or one.stream < test.streams
        assert one.bytes is None or (one.bytes < ends[-1] and one.bytes not in (0, *ends))
    assert {fault.kind for fault in test.plan()} <= set(FaultKind) - {FaultKind.DEADLINE}


def test_a_table_of_a_later_form_is_refused(tmp_path: Path) -> None:
    """The error says which form this version reads."""
    path = tmp_path / "table.json"
    path.write_text('{"format": 2, "tests": []}', "utf-8")

    with pytest.raises(RecordError, match="the number 1, which this version reads"):
        read_table(path)
