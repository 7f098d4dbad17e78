"""Readings of combined vectors: every two values occur, what does not go together is excluded by name."""

from __future__ import annotations

import itertools

import pytest

from conformance.engine.combining import READING_EXCLUSIONS, applies, covered, factors_of, options_of, readings_of
from conformance.readers.ipc.implementations import IPC_READERS
from conformance.reference.ipc.combined import excluded

LIBRARIES = [name for name, info in IPC_READERS.items() if info.module]


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_pair_of_a_reader_occurs_or_is_excluded_by_name(name: str) -> None:
    """Counted by hand, over the bytes and the options that the reader declares."""
    factors = factors_of(IPC_READERS[name].kinds, IPC_READERS[name].options)
    made = readings_of(factors)

    for one, other in itertools.combinations(factors, 2):
        met = {(row[one], row[other]) for row in made}
        for pair in itertools.product(factors[one], factors[other]):
            row = dict(zip((one, other), pair, strict=True))
            known = excluded(row) is not None or any(each.forbids(row) for each in READING_EXCLUSIONS)
            assert (pair in met) is not known, (one, other, pair)
    assert covered(made, factors).missing == ()


def test_every_vector_is_read_plainly_first() -> None:
    """A vector that fails under options is also there without, so that the cause can be told apart."""
    factors = factors_of(["stream"], {"threads": (True, False)})

    made = readings_of(factors)

    plain = [row for row in made if not options_of(row, factors)]
    assert made[: len(plain)] == plain
    assert {row["container"] for row in plain} == {"stream"}
    assert all(options_of(row, factors) == {"threads": False} for row in made[len(plain) :])


def test_fewer_readings_leave_combinations_uncovered() -> None:
    """The coverage counts what was read and nothing else."""
    factors = factors_of(["stream", "file"], {})
    made = readings_of(factors)

    some = covered(made[:100], factors)

    assert 0 < some.reached < some.possible == covered(made, factors).reached


def test_options_are_those_of_a_job() -> None:
    """Defaults are left out, and fields are a list again."""
    factors = factors_of(["stream"], {"included_fields": (), "chunk": (), "way": ("", "table")})

    found = [options_of(row, factors) for row in readings_of(factors)]

    assert {} in found
    assert any(options.get("included_fields") == [0, 2] for options in found)
    assert {options.get("chunk") for options in found} == {None, 7, 64}
    assert all("way" not in options or options["way"] == "table" for options in found)


@pytest.mark.parametrize(
    ("options", "kind", "fits"),
    [
        ({"way": "scan"}, "stream", False),
        ({"way": "scan"}, "file", True),
        ({"way": "scan", "chunk": 7}, "file", False),
        ({"way": "scan", "native_endian": False}, "file", False),
        ({"chunk": 7, "mapped": True}, "file", False),
        ({"chunk": 7}, "stream", True),
    ],
)
def test_what_has_no_meaning_is_not_read(options: dict[str, object], kind: str, fits: bool) -> None:  # noqa: FBT001
    """A scan reads files by their path; bytes have one source."""
    assert applies(options, kind) is fits


def test_every_layout_is_projected_in_every_container_and_version() -> None:
    """How many buffers lie before a column depends on all three, so some columns of each are read from several rows."""
    factors = factors_of(["stream", "file"], {"included_fields": ()})

    projected = {
        (row["layout"], row["container"], row["version"])
        for row in readings_of(factors)
        if row["included_fields"] is not None and row["size"] == "several" and not row["codec"]
    }

    every = itertools.product(factors["layout"], factors["container"], factors["version"])
    permitted = {
        each for each in every if excluded(dict(zip(("layout", "container", "version"), each, strict=True))) is None
    }
    assert projected == permitted
