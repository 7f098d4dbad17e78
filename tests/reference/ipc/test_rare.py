"""Rare input: the suite reads all of it, each is as long, extreme or nested as it says, and none is made twice."""

from __future__ import annotations

import fnmatch

import pyarrow as pa
import pytest

from conformance.contract.closed import Validity
from conformance.contract.ipc.expecting import expect
from conformance.reference.ipc.rare import PREFIX, RARE, WAYS, Rare
from conformance.reference.ipc.rare.ends import FRAMINGS
from conformance.reference.ipc.rare.inside import CONTAINERS, INSIDE, LEFT_OUT
from conformance.reference.ipc.rare.register import register
from conformance.reference.ipc.rare.values import UNITS
from conformance.wire import Header, Kind, differences, plain_table, read_file, read_stream
from tests.studies import sample

SHARES = 8
"""The inputs are checked in so many parts, some of them in the quick set."""


@pytest.mark.parametrize("share", sample(range(SHARES), ("0", "3", "6"), env="thorough"))
def test_the_suite_reads_every_input_as_any_reader_has_to(share: int) -> None:
    """The suite's own decoder finds nothing wrong, and the rows that were written."""
    for each in [*RARE.values()][share::SHARES]:
        made = each.make()

        read = expect(made.data, each.kind)

        assert read.result is Validity.VALID, (each.id, read.reason)
        assert read.rows is not None
        assert differences(plain_table(made.batches), read.rows) == [], each.id


def test_each_says_what_it_is_and_what_permits_it() -> None:
    """An id names one input, a title is a sentence, and a source is a text of the format."""
    for name, each in RARE.items():
        assert name == each.id
        assert name.startswith(f"{PREFIX}.")
        assert each.title.endswith(".")
        assert each.source.startswith(
            ("https://arrow.apache.org/docs/format/", "https://github.com/apache/arrow/blob/")
        )
    with pytest.raises(ValueError, match=r"expected ids that differ, got rare.long.stream.again twice"):
        register(RARE["rare.long.stream.again"])


def test_equal_ids_give_equal_bytes() -> None:
    """One line repeats a reading."""
    for each in [*RARE.values()][::40]:
        assert each.make().data == each.make().data


@pytest.mark.parametrize(
    ("name", "dictionaries", "batches", "columns"),
    [
        ("stream.columns", 0, 1, 2_000),
        ("file.columns", 0, 1, 2_000),
        ("stream.batches", 0, 3_001, 1),
        ("file.batches", 0, 3_001, 1),
        ("stream.encoded", 2_000, 1, 2_000),
        ("stream.again", 10_000, 1, 1),
    ],
)
def test_long_input_is_long(name: str, dictionaries: int, batches: int, columns: int) -> None:
    """The number of its messages and columns is in the thousands, and its bytes are few."""
    each = RARE[f"{PREFIX}.long.{name}"]
    data = each.make().data
    read = read_file(data) if each.kind is Kind.FILE else read_stream(data)

    assert (len(read.dictionaries), len(read.batches)) == (dictionaries, batches)
    assert read.schema is not None
    assert len(read.schema.fields) == columns
    assert 250_000 < len(data) < 2_500_000


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["timestamp", "duration"])
def test_the_ends_of_a_time_are_among_its_values(kind: str, unit: str) -> None:
    """The least and the greatest integer; and in each unit one that is too large for the next finer one."""
    (batch,) = RARE[f"{PREFIX}.value.{kind}-{unit}"].make().batches
    values = {each for each in batch.column(1).view(pa.int64()).to_pylist() if each is not None}

    assert {-(2**63), 2**63 - 1, 2**63 // 1000 + 1} <= values


def test_a_time_of_day_ends_before_the_next_day() -> None:
    """The text forbids 86400 seconds, also for a leap second."""
    for unit, per_second in UNITS.items():
        (batch,) = RARE[f"{PREFIX}.value.time-{unit}"].make().batches
        width = pa.int32() if unit in ("s", "ms") else pa.int64()
        assert max(batch.column(1).drop_null().view(width).to_pylist()) == 86_400 * per_second - 1


def test_only_a_union_of_more_children_than_the_text_counts_may_be_refused() -> None:
    """The text has a union "with more than 127 possible types" be modeled as a union of unions: 128 are in doubt."""
    unions = [each for each in RARE.values() if fnmatch.fnmatch(each.id, f"{PREFIX}.union.*")]

    assert [each.id for each in RARE.values() if each.open] == [each.id for each in unions if each.id.endswith("-128")]
    for each in unions:
        (batch,) = each.make().batches
        assert f"{batch.column(1).type.mode}-{batch.column(1).type.num_fields}" == each.id.rpartition(".")[2]


def test_every_layout_is_inside_every_container() -> None:
    """All but what is left out by name."""
    names = {each.removeprefix(f"{PREFIX}.inside.") for each in RARE if each.startswith(f"{PREFIX}.inside.")}

    assert names == {f"{one}.{other}" for one in CONTAINERS for other in INSIDE} - {".".join(pair) for pair in LEFT_OUT}
    assert all(one in CONTAINERS and other in INSIDE for one, other in LEFT_OUT)
    assert len(INSIDE) > 30


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_container_holds_values_and_nulls(container: str) -> None:
    """A container whose numbers were all null would test nothing."""
    each: Rare = RARE[f"{PREFIX}.inside.{container}.int32"]

    text = str(plain_table(each.make().batches).columns[1])

    assert "None" in text
    assert any(digit in text for digit in "123456")


ENDS = [name for name in RARE if name.startswith(f"{PREFIX}.end.stream.")]


@pytest.mark.parametrize("name", ENDS)
def test_a_stream_on_ends_ends_in_a_message_without_a_body(name: str) -> None:
    """Behind it is the end marker of its framing, or nothing at all."""
    _, _, _, end, framing, what = name.split(".")
    data = RARE[name].make().data

    messages = [each for each in read_stream(data).messages if each.header is not Header.END_OF_STREAM]

    last = messages[-1]
    kind = {"schema": Header.SCHEMA, "dictionary": Header.DICTIONARY_BATCH}.get(what, Header.RECORD_BATCH)
    assert (last.header, last.body_length) == (kind, 0)
    marker = bytes(4) if FRAMINGS[framing] else b"\xff\xff\xff\xff" + bytes(4)
    assert data[last.body_end :] == (marker if end == "marker" else b"")
    assert data.startswith(b"\xff\xff\xff\xff") is not FRAMINGS[framing]


def test_input_on_ends_is_for_every_option_and_long_input_for_none() -> None:
    """All other input is for the ways into and out of a library."""
    families = {name.split(".")[1]: each.under for name, each in RARE.items()}

    assert families["end"] is None
    assert families["long"] == ()
    assert {under for family, under in families.items() if family not in ("end", "long")} == {WAYS}


@pytest.mark.parametrize("mode", ["sparse", "dense"])
def test_rows_of_a_union_are_null_in_different_children_one_after_the_other(mode: str) -> None:
    """By itself, and as values of runs, whose nulls are longer than a row."""
    (alone,), (runs,) = (RARE[f"{PREFIX}.null.{kind}union-{mode}"].make().batches for kind in ("", "runs-of-"))

    assert alone.column(1).to_pylist() == [None, None, None, "b", None, 3]
    assert alone.column(1).type_codes.to_pylist() == [0, 1, 0, 1, 1, 0]
    assert runs.column(1).to_pylist() == [None] * 5 + ["b", None, None, 3]
    assert runs.column(1).values.type_codes.to_pylist() == [0, 1, 0, 1, 1, 0]
