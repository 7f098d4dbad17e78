"""Combined vectors: all are legal, every combination is there or excluded by name, and an id gives the bytes again."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping

import pytest

from conformance.contract.closed import Validity
from conformance.contract.ipc.expecting import expect
from conformance.reference.ipc.combined import EXCLUSIONS, FACTORS, THREES, excluded, make, name_of, row_of, rows
from conformance.reference.ipc.combined.writerchoices import FORMS
from conformance.wire import differences, plain_table

PLAIN: Mapping[str, Hashable] = {name: values[0] for name, values in FACTORS.items()} | {"layout": "int32"}
SHARES = 8
"""The vectors are checked in so many parts, so that several processes share the work."""


@pytest.mark.parametrize("share", range(SHARES))
def test_the_suite_reads_every_vector_as_any_reader_has_to(share: int) -> None:
    """The suite's own decoder finds nothing wrong, and the rows that were written."""
    for row in rows()[share::SHARES]:
        made = make(row)

        read = expect(made.data, made.kind)

        assert read.result is Validity.VALID, (made.id, read.reason)
        assert read.rows is not None
        assert differences(plain_table(made.batches), read.rows) == [], made.id


def test_every_pair_occurs_or_is_excluded_by_name() -> None:
    """Counted by hand: each two values of all factors are in a row, and in none if an exclusion names them."""
    counted = 0
    for one, other in itertools.combinations(FACTORS, 2):
        met = {(row[one], row[other]) for row in rows()}
        for pair in itertools.product(FACTORS[one], FACTORS[other]):
            assert (pair in met) is (excluded(dict(zip((one, other), pair, strict=True))) is None), (one, other, pair)
            counted += pair in met
    assert counted > 2500


def test_every_triple_of_the_main_factors_occurs_or_is_excluded_by_name() -> None:
    """Version, codec, layout, null pattern and container, in threes."""
    assert {"version", "codec", "layout", "nulls", "container"} == THREES
    counted = 0
    for names in itertools.combinations([name for name in FACTORS if name in THREES], 3):
        met = {tuple(row[name] for name in names) for row in rows()}
        for triple in itertools.product(*(FACTORS[name] for name in names)):
            known = excluded(dict(zip(names, triple, strict=True))) is not None
            assert (triple in met) is not known, (names, triple)
            counted += triple in met
    assert counted > 2000


def test_every_exclusion_excludes_something_and_says_why() -> None:
    """An exclusion that no row meets would hide a combination later; most quote a text."""
    every = [dict(zip(FACTORS, values, strict=True)) for values in itertools.product(*_two_of_each().values())]

    for each in EXCLUSIONS:
        assert each.why
        assert not each.source or each.source.startswith("https://")
        assert any(each.forbids(row) for row in every), each.name


def _two_of_each() -> dict[str, tuple[Hashable, ...]]:
    """The factors with the layouts that exclusions name, and one that none does."""
    layouts = ("int32", "null", "dictionary", "dictionary-replaced", "run-end-encoded")
    return {**FACTORS, "layout": layouts}


def test_an_id_gives_the_row_again() -> None:
    """All values are in the id, so one line repeats a reading; equal rows give equal bytes."""
    for row in rows()[::50]:
        assert row_of(name_of(row)) == row
        assert make(row).data == make(row_of(name_of(row))).data
    assert len({name_of(row) for row in rows()}) == len(rows())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("combined.stream.V5", "expected combined and the values of container"),
        (
            "combined.stream.V7.plain.little.usual.several.some.int32",
            "expected a version of combined vectors, got 'V7'",
        ),
        ("combined.file.V5.plain.little.no-end.several.some.int32", "excluded .the end of a file's stream."),
    ],
)
def test_an_id_that_no_vector_has_is_refused(name: str, why: str) -> None:
    """The error names the part that is wrong, or the exclusion."""
    with pytest.raises(ValueError, match=why):
        row_of(name)


@pytest.mark.parametrize("form", [name for name in FORMS if name != "usual"])
def test_every_form_changes_the_bytes_and_not_the_rows(form: str) -> None:
    """A form that changed nothing would count combinations that are none."""
    row = {**PLAIN, "layout": "utf8", "codec": "lz4" if form in ("stored", "smaller") else ""}
    if form == "under-nulls":
        row["layout"] = "int32"
    usual, other = make({**row, "form": "usual"}), make({**row, "form": form})

    assert other.data != usual.data
    assert plain_table(other.batches) == plain_table(usual.batches)


@pytest.mark.parametrize("size", FACTORS["size"])
@pytest.mark.parametrize("nulls", FACTORS["nulls"])
def test_sizes_and_nulls_are_what_they_say(size: str, nulls: str) -> None:
    """The rows of a column of text under each size and null pattern that go together."""
    row = {**PLAIN, "layout": "utf8", "size": size, "nulls": nulls}
    if excluded(row) is not None:
        return
    column = [value for batch in make(row).batches for value in batch.column(1).to_pylist()]
    values = {value for value in column if value is not None}

    assert len(column) == {"several": 14, "zero": 0, "one": 1}.get(size, 9)
    assert not column or (None in column) is (nulls != "none")
    assert not column or bool(values) is (nulls != "all")
    if nulls != "all" and column:
        assert values == {""} if size == "hollow" else (len(values) == 1) is (size in ("one", "one-valued"))
