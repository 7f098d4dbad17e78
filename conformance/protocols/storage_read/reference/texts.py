"""BigQuery values and their texts: dates, times, intervals and ranges, read in every usual spelling, written in one.

Instants are microseconds since the Unix epoch and times microseconds since midnight, as Arrow has them.
Source: "Data types" of the BigQuery SQL reference
(https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types), section by section its canonical formats.
Every reader raises ValueError with a sentence that names the text.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from typing import Final

__all__ = [
    "format_date",
    "format_datetime",
    "format_interval",
    "format_time",
    "format_timestamp",
    "read_date",
    "read_datetime",
    "read_interval",
    "read_range",
    "read_time",
    "read_timestamp",
]

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # a civil time has no zone
_EPOCH_DAY: Final = _EPOCH.date().toordinal()
_SECOND: Final = 1_000_000
_FIRST: Final = (dt.datetime(1, 1, 1) - _EPOCH) // dt.timedelta(microseconds=1)  # noqa: DTZ001  # as above
_LAST: Final = (dt.datetime.max - _EPOCH) // dt.timedelta(microseconds=1)  # noqa: DTZ901  # as above
_DATE: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_TIME: Final = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,6}))?")
_DATETIME: Final = re.compile(rf"({_DATE.pattern})(?:[Tt ]+({_TIME.pattern}))?")
_TIMESTAMP: Final = re.compile(rf"({_DATETIME.pattern})\s*(?P<zone>[Zz]|[+-]\d{{1,2}}(?::?\d{{2}})?|[A-Za-z][\w/+-]*)?")
_INTERVAL: Final = re.compile(
    r"(?P<ym>[+-]?)(?P<years>\d+)-(?P<months>\d+) +(?P<days>[+-]?\d+) +"
    r"(?P<hms>[+-]?)(?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+)(?:\.(?P<fraction>\d{0,6}))?"
)
_RANGE: Final = re.compile(r"\[\s*([^,]*?)\s*,\s*([^,]*?)\s*\)")
_UNBOUNDED: Final = ("UNBOUNDED", "NULL")
MAX_MONTHS: Final = 120_000
MAX_DAYS: Final = 3_660_000
MAX_MICROS: Final = 87_840_000 * 3600 * _SECOND
"""An INTERVAL reaches 10,000 years in each of its three parts."""


def read_date(text: str) -> int:
    """Days since the Unix epoch."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected a DATE as YYYY-MM-DD, got {text!r}")
    try:
        return dt.date(*map(int, match.groups())).toordinal() - _EPOCH_DAY
    except ValueError as error:
        raise ValueError(f"expected a DATE between 0001-01-01 and 9999-12-31, got {text!r}: {error}") from None


def read_time(text: str) -> int:
    """Microseconds since midnight."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected a TIME as HH:MM:SS[.ffffff], got {text!r}")
    hours, minutes, seconds = (int(part) for part in match.groups()[:3])
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"expected a TIME before 24:00:00, got {text!r}")
    return ((hours * 60 + minutes) * 60 + seconds) * _SECOND + _fraction(match.group(4))


def read_datetime(text: str) -> int:
    """Microseconds since the Unix epoch of a civil time; a date alone means its midnight."""
    match = _DATETIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected a DATETIME as YYYY-MM-DDTHH:MM:SS[.ffffff], got {text!r}")
    time = read_time(match.group(5)) if match.group(5) else 0
    return read_date(match.group(1)) * 86_400 * _SECOND + time


def read_timestamp(text: str) -> int:
    """Microseconds since the Unix epoch; a time without a zone is in UTC."""
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected a TIMESTAMP as YYYY-MM-DDTHH:MM:SS[.ffffff][zone], got {text!r}")
    civil = read_datetime(match.group(1))
    instant = civil - _offset(match.group("zone"), civil)
    if not _FIRST <= instant <= _LAST:
        raise ValueError(f"expected a TIMESTAMP in the years 1 to 9999 of UTC, got {text!r}")
    return instant


def _offset(zone: str | None, civil: int) -> int:
    if zone is None or zone.upper() in ("Z", "UTC"):
        return 0
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "")
        hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
        return (-1 if zone[0] == "-" else 1) * (hours * 60 + minutes) * 60 * _SECOND
    try:
        local = (_EPOCH + dt.timedelta(microseconds=civil)).replace(tzinfo=zoneinfo.ZoneInfo(zone))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"expected a time zone of the tz database, got {zone!r}") from None
    offset = local.utcoffset()
    assert offset is not None
    return offset // dt.timedelta(microseconds=1)


def read_interval(text: str) -> tuple[int, int, int]:
    """Months, days and microseconds of ``[sign]Y-M [sign]D [sign]H:M:S[.F]``."""
    match = _INTERVAL.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected an INTERVAL as Y-M D H:M:S[.F], got {text!r}")
    months = int(match["years"]) * 12 + int(match["months"])
    seconds = (int(match["hours"]) * 60 + int(match["minutes"])) * 60 + int(match["seconds"])
    micros = seconds * _SECOND + _fraction(match["fraction"])
    days = int(match["days"])
    if months > MAX_MONTHS or abs(days) > MAX_DAYS or micros > MAX_MICROS:
        raise ValueError(f"expected an INTERVAL of at most 10,000 years in each part, got {text!r}")
    return -months if match["ym"] == "-" else months, days, -micros if match["hms"] == "-" else micros


def read_range(text: str) -> tuple[str | None, str | None]:
    """The texts of a range's bounds ``[start, end)``, None where one is UNBOUNDED (or NULL)."""
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected a RANGE as [start, end), got {text!r}")
    start, end = (None if bound.upper() in _UNBOUNDED else bound for bound in match.groups())
    return start, end


def format_date(days: int) -> str:
    """``YYYY-MM-DD``."""
    return dt.date.fromordinal(days + _EPOCH_DAY).isoformat()


def format_time(micros: int) -> str:
    """``HH:MM:SS[.ffffff]``."""
    return (_EPOCH + dt.timedelta(microseconds=micros)).time().isoformat()


def format_datetime(micros: int) -> str:
    """``YYYY-MM-DDTHH:MM:SS[.ffffff]``."""
    return (_EPOCH + dt.timedelta(microseconds=micros)).isoformat()


def format_timestamp(micros: int) -> str:
    """As a DATETIME in UTC, with ``Z``."""
    return f"{format_datetime(micros)}Z"


def format_interval(months: int, days: int, micros: int) -> str:
    """``[-]Y-M D [-]H:M:S[.F]``."""
    seconds, fraction = divmod(abs(micros), _SECOND)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    year_month = f"{'-' * (months < 0)}{abs(months) // 12}-{abs(months) % 12}"
    tail = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{year_month} {days} {'-' * (micros < 0)}{hours}:{minute}:{second}{tail}"


def _fraction(digits: str | None) -> int:
    return int((digits or "").ljust(6, "0"))
