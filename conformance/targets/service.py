"""The content of ``[service]`` in a target file: a server that bills who asks, and that others use as well.

A run against such a server makes a dataset of its own, says first what it will cost, counts what it reads, stops at a
limit, and asks again where a quota refuses. This module decides which keys exist; it asks nothing.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Final

from conformance.records import RecordError

__all__ = ["PROJECT_PATTERN", "Price", "Service", "check_project_variable", "check_service", "sized"]

PROJECT_PATTERN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
"""Wider than BigQuery's own rule, because emulators take shorter names; it is one segment of a URL's path."""

_DATASET: Final = re.compile(r"[A-Za-z0-9_]{1,900}")
"""A dataset's name, short enough for the random part behind it: BigQuery takes 1,024 characters."""
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
HOUR: Final = 3600.0
"""The shortest expiry of tables in seconds that datasets.insert takes (defaultTableExpirationMs)."""


@dataclasses.dataclass(frozen=True, slots=True)
class Price:
    """What the server bills for reading: US dollars for each TiB, and where and when that was published."""

    dollars_per_tib: float
    source: str
    date: str


@dataclasses.dataclass(frozen=True, slots=True)
class Service:
    """What ``[service]`` holds. ``location`` is where the run's dataset is made; empty leaves it to the server.

    ``expiry`` is the number of seconds after which the server removes each table itself, ``max_bytes`` the number of
    bytes that a run may let the server read. Rows of a load job may take ``settle`` seconds to appear. A request that
    a quota refuses is sent again up to ``retries`` times: after ``pause`` seconds, then after twice as long each time.
    """

    location: str = ""
    expiry: float = 86_400.0
    max_bytes: int = 10 << 30
    settle: float = 60.0
    retries: int = 6
    pause: float = 1.0
    price: Price | None = None


def check_project_variable(name: str) -> None:
    """Refuse what cannot be the name of an environment variable; raises :class:`RecordError`."""
    if name and not _VARIABLE.fullmatch(name):
        raise RecordError("target.project_variable", "the name of an environment variable", name)


def check_service(service: Service | None, *, rest: str, over_rest: bool, dataset: str, longest: float) -> None:
    """Refuse a ``[service]`` that nothing could be done with.

    ``rest`` is the address of REST, ``over_rest`` says whether a path of seeding uses it, ``dataset`` is the beginning
    of the name of the run's dataset.

    Raises:
        RecordError: one sentence on the first such key.
    """
    if service is None:
        return
    if not rest:
        raise RecordError("target.service", "an [endpoint] with rest, where the run makes its dataset", None)
    if not over_rest:
        raise RecordError("target.seed.paths", "a path over REST, which [service] needs", None)
    if not _DATASET.fullmatch(dataset):
        raise RecordError("target.seed.dataset", "letters, digits and '_', at most 900", dataset)
    for key, value, least, most in (
        ("expiry", service.expiry, HOUR, 30 * longest),
        ("settle", service.settle, 0, longest),
        ("pause", service.pause, 0, longest),
        ("retries", service.retries, 0, 100),
        ("max_bytes", service.max_bytes, 1, 1 << 60),
    ):
        if not least <= value <= most:
            raise RecordError(f"target.service.{key}", f"a number from {least:g} to {most:.15g}", value)
    if service.price is not None and not 0 <= service.price.dollars_per_tib <= 1e6:
        raise RecordError("target.service.price.dollars_per_tib", "US dollars", service.price.dollars_per_tib)


def sized(number: float) -> str:
    """A number of bytes for a person."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"
