"""Texts of BigQuery values: what is written is read back, in every spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.protocols.storage_read.reference import texts

DAYS = st.integers(texts.read_date("0001-01-01"), texts.read_date("9999-12-31"))
INSTANTS = st.integers(texts.read_datetime("0001-01-01"), texts.read_datetime("9999-12-31 23:59:59.999999"))
INTERVALS = st.tuples(
    st.integers(-texts.MAX_MONTHS, texts.MAX_MONTHS),
    st.integers(-texts.MAX_DAYS, texts.MAX_DAYS),
    st.integers(-texts.MAX_MICROS, texts.MAX_MICROS),
)


@given(days=DAYS)
def test_dates_come_back(days: int) -> None:
    """A written DATE reads as itself."""
    assert texts.read_date(texts.format_date(days)) == days


@given(micros=st.integers(0, 86_400_000_000 - 1))
def test_times_come_back(micros: int) -> None:
    """A written TIME reads as itself."""
    assert texts.read_time(texts.format_time(micros)) == micros


@given(micros=INSTANTS)
def test_instants_come_back(micros: int) -> None:
    """A written DATETIME or TIMESTAMP reads as itself."""
    assert texts.read_datetime(texts.format_datetime(micros)) == micros
    assert texts.read_timestamp(texts.format_timestamp(micros)) == micros


@given(parts=INTERVALS)
def test_intervals_come_back(parts: tuple[int, int, int]) -> None:
    """A written INTERVAL reads as itself: each part has its own sign."""
    assert texts.read_interval(texts.format_interval(*parts)) == parts


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-1-1 0:0:0 utc", 0),
        ("1970-01-01 01:30:00+1:30", 0),
        ("1970-01-01 01:00:00+0100", 0),
        ("1970-01-01 02:00:00 Europe/Paris", 3_600_000_000),
        ("1970-01-01t00:00:00.1", 100_000),
    ],
)
def test_spellings_of_a_timestamp(text: str, micros: int) -> None:
    """Separators, zones and fractions come in many spellings."""
    assert texts.read_timestamp(text) == micros


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("[2020-01-01, 2021-01-01)", ("2020-01-01", "2021-01-01")),
        ("[ unbounded ,NULL )", (None, None)),
        ("[2020-01-01 00:00:00+00, UNBOUNDED)", ("2020-01-01 00:00:00+00", None)),
    ],
)
def test_bounds_of_a_range(text: str, bounds: tuple[str | None, str | None]) -> None:
    """UNBOUNDED and NULL are no bound."""
    assert texts.read_range(text) == bounds


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (texts.read_date, "2020-02-30"),
        (texts.read_date, "20200101"),
        (texts.read_time, "23:60:00"),
        (texts.read_time, "12:00"),
        (texts.read_datetime, "2020-01-01T"),
        (texts.read_timestamp, "9999-12-31T23:59:59-01:00"),
        (texts.read_timestamp, "2020-01-01 00:00:00 Atlantis/Capital"),
        (texts.read_interval, "1 day"),
        (texts.read_interval, "0-0 0 87840000:0:1"),
        (texts.read_range, "(2020-01-01, 2021-01-01]"),
    ],
)
def test_bad_text_is_named(read: Callable[[str], Any], text: str) -> None:
    """A text that is no such value is refused with a sentence that repeats it."""
    with pytest.raises(ValueError, match="expected a") as error:
        read(text)

    assert text.rsplit(maxsplit=1)[-1] in str(error.value)
