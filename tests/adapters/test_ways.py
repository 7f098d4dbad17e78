"""What adapters do with the rows that they read, and whether the values are afterwards what they were."""

from __future__ import annotations

from typing import Final

import pytest

from conformance.reference.ipc.rare import RARE
from conformance.wire.plain import PlainTable, differences, plain_table
from tests.adapters.conftest import BUILT, NONE_BUILT, Program
from tests.adapters.families import FAMILIES, stream_of

pytestmark = pytest.mark.slow(env="adapters")

if not BUILT:
    pytest.skip(NONE_BUILT, allow_module_level=True)

SOUND: Final = ("bool", "integers", "floats", "texts", "binaries", "fixed-binary", "dictionary-delta", "thousand-rows")
"""Families whose values no library changes."""


def _steps(program: Program) -> list[str]:
    """What the adapter can do, without the empty text; skips the test if it is nothing."""
    offered = [value for value in program.ask("hello")["read_options"].get("after", ()) if value]
    if not offered:
        pytest.skip(f"{program.name} does nothing with the rows")
    return offered


@pytest.mark.parametrize("family", SOUND)
def test_sound_values_stay_what_they_are(program: Program, family: str) -> None:
    """Whatever the library does, the rows are those that were written, and afterwards the same."""
    batches = FAMILIES[family]()

    for after in _steps(program):
        answer = program.read(stream_of(batches), after=after)

        assert answer["status"] == "ok", (after, answer)
        assert differences(plain_table(batches), PlainTable.from_json(answer)) == []
        assert answer["ways"] == [], after


@pytest.mark.parametrize(
    ("after", "family", "said"),
    [
        ("objects", "unions", "readObject: expected 1, got null"),
        ("validated", "nested", "Incorrect arrow type for class org.apache.arrow.vector.complex.MapVector"),
        ("sliced", "unions", "of a slice, row 0: expected 1, got null"),
        ("copied", "unions", "of the copy, row 0: expected 1, got null"),
        ("appended", "nested", "ClassCastException"),
        ("hashed", "runs", "rows 0 and 1 are equal, and their hashes differ"),
    ],
)
def test_what_arrow_java_changes_is_noted(program: Program, after: str, family: str, said: str) -> None:
    """Faults of its version 19.0.0; the rows of the answer are nevertheless those that were written."""
    if program.name != "arrow-java" or program.version != "19.0.0":
        pytest.skip("of Arrow Java 19.0.0")
    batches = FAMILIES[family]()

    answer = program.read(stream_of(batches), after=after)

    assert differences(plain_table(batches), PlainTable.from_json(answer)) == []
    assert any(difference.startswith(f"{after}: ") and said in difference for difference in answer["ways"]), answer


@pytest.mark.parametrize(
    ("name", "version", "after", "rare", "said"),
    [
        ("arrow-rs", "60.1.0", "taken", "null.runs-of-union-sparse", "row 2: expected [1], got [0]"),
        ("arrow-rs", "60.1.0", "taken", "null.runs-of-union-dense", "row 2: expected [1], got [0]"),
        ("arrow-java", "19.0.0", "objects", "value.timestamp-s", "got 9223372036854775"),
        ("arrow-java", "19.0.0", "objects", "value.duration-us", "got 9223372036854775"),
        ("arrow-java", "19.0.0", "validated", "inside.fixed-size-list.int32", "UnsupportedOperationException"),
    ],
)
def test_what_is_lost_of_rare_values_is_noted(  # noqa: PLR0917  # one row of the table each
    program: Program, name: str, version: str, after: str, rare: str, said: str
) -> None:
    """Faults of these versions; the rows of the answer are those that were written."""
    if (program.name, program.version) != (name, version):
        pytest.skip(f"of {name} {version}")
    made = RARE[f"rare.{rare}"].make()

    answer = program.read(made.data, after=after)

    assert differences(plain_table(made.batches), PlainTable.from_json(answer)) == []
    assert any(difference.startswith(f"{after}: ") and said in difference for difference in answer["ways"]), answer


def test_nothing_is_judged_where_no_class_of_java_holds_the_value(program: Program) -> None:
    """No LocalDateTime is 2^63 seconds from 1970, so it shows nothing that some object stands there for the value."""
    if program.name != "arrow-java":
        pytest.skip("of Arrow Java")
    made = RARE["rare.value.timestamp-s"].make()
    values = made.batches[0].column(1).cast("int64").to_pylist()

    answer = program.read(made.data, after="objects")

    beyond = [row for row, value in enumerate(values) if value is not None and abs(value) > 1 << 55]
    assert len(beyond) > 3
    assert not [text for text in answer["ways"] if any(f"row {row}," in text for row in beyond)], answer


def test_what_is_done_with_a_batch_leaves_the_rows_of_the_next(program: Program) -> None:
    """A copy of a union in Arrow Java adds a vector to it, and its next batch cannot be loaded: the rows are whole."""
    if program.name != "arrow-java":
        pytest.skip("of Arrow Java")
    batches = FAMILIES["unions"]() * 2

    answer = program.read(stream_of(batches), after="copied")

    assert answer["status"] == "ok", answer
    assert answer["rows"] == sum(batch.num_rows for batch in batches)


def test_nothing_is_compared_unless_it_is_asked(program: Program) -> None:
    """An answer without the option has no comparison."""
    assert "ways" not in program.read(stream_of(FAMILIES["bool"]()))


def test_an_unknown_step_is_unsupported(program: Program) -> None:
    """A library that cannot do it does nothing else in its place."""
    assert program.read(stream_of(FAMILIES["bool"]()), after="inspected")["status"] == "unsupported"
