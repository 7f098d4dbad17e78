"""Combined vectors as inputs of a reader: each as it is, and under the options that the reader has.

The vectors are the same for all readers. Each is read plainly, and once more under values of the reader's options, so
that every two values of all factors occur together, those of the bytes and those of the reading
(:func:`~conformance.generate.covering.extended`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.generate.covering import Combination, Coverage, Factors, Row, coverage, extended
from conformance.reference.ipc.combined import FACTORS, THREES, Exclusion, excluded, is_stream, rows

__all__ = ["READING_EXCLUSIONS", "applies", "covered", "factors_of", "options_of", "readings_of"]

_ANY: Final[Mapping[str, tuple[Hashable, ...]]] = {"included_fields": (None, (1,), (0, 2)), "chunk": (None, 7, 64)}
"""Values of options that take any value; None means that the option is not given."""
_DATASET: Final = "https://arrow.apache.org/docs/python/dataset.html#reading-different-file-formats"
_INTERFACE: Final = "https://arrow.apache.org/docs/format/CDataInterface.html"
_OPTIONS: Final = "https://arrow.apache.org/docs/python/generated/pyarrow.ipc.IpcReadOptions.html"
_POLARS: Final = "https://docs.pola.rs/api/python/stable/reference/api/polars.scan_ipc.html"
_SCANS: Final = ("scan", "streaming-scan")
_WAYS: Final = ("way", "after")

READING_EXCLUSIONS: Final = (
    Exclusion(
        "datasets hold files",
        "the scans of pyarrow and polars read files, not streams",
        f"{_DATASET} and {_POLARS}",
        lambda row: row.get("way") in _SCANS and is_stream(row),
    ),
    Exclusion(
        "datasets open their files",
        "a dataset is given by paths, so the file object of another option has no place",
        _DATASET,
        lambda row: row.get("way") in _SCANS and row.get("chunk") is not None,
    ),
    Exclusion(
        "datasets have no options of the byte order",
        "the options that pyarrow's readers of streams and files have do not reach a scan",
        _OPTIONS,
        lambda row: row.get("way") in _SCANS and row.get("native_endian") is False,
    ),
    Exclusion(
        "imports read no bytes",
        "batches that come over the C data interface are neither pushed nor mapped, projected nor swapped",
        _INTERFACE,
        lambda row: (
            row.get("way") == "imported"
            and (
                row.get("chunk") is not None
                or row.get("mapped") is True
                or row.get("included_fields") is not None
                or row.get("native_endian") is False
            )
        ),
    ),
    Exclusion(
        "one source",
        "bytes come from a file object or from a file that is mapped",
        "",
        lambda row: row.get("chunk") is not None and row.get("mapped") is True,
    ),
    Exclusion(
        "values of the other byte order",
        "the option asks for values that are not converted",
        _OPTIONS,
        lambda row: row.get("native_endian") is False and row.get("order") == "big",
    ),
)
"""What is excluded of readings, beyond what is excluded of bytes."""


def applies(options: Mapping[str, Any], kind: str) -> bool:
    """Return whether bytes of this kind can be read with these options."""
    row = {"container": kind, **options}
    return not any(each.forbids(row) for each in READING_EXCLUSIONS)


def factors_of(kinds: Iterable[str], options: Mapping[str, Sequence[Any]]) -> Factors:
    """Return the factors of a reader: those of the bytes, and the options that it declares."""
    bytes_ = {**FACTORS, "container": tuple(each for each in FACTORS["container"] if each in {*kinds})}
    # The first declared value is the default of the library; a list of fields is made a tuple, which can be a key.
    reading = {key: tuple(values) or _ANY[key] for key, values in options.items() if values or key in _ANY}
    return {**bytes_, **reading}


def options_of(row: Mapping[str, Hashable], factors: Factors) -> dict[str, Any]:
    """Return the options of a reading that differ from the library's defaults, as a job takes them."""
    differing = {key: row[key] for key in factors if key not in FACTORS and row[key] != factors[key][0]}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in differing.items()}


def readings_of(factors: Factors) -> list[Row]:
    """Return the readings: each vector as it is, followed by itself under options, and every layout with several rows
    in every way into and out of the library, and with some columns alone.
    """
    reading = {key: values[0] for key, values in factors.items() if key not in FACTORS}
    plain = [{**row, **reading} for row in _known(factors)]
    under = [row for row in _extended(_frozen(factors)) if options_of(row, factors)]
    return list(
        {tuple(row.items()): row for row in (*plain, *under, *_in_every_way(factors), *_projected(factors))}.values()
    )


def _in_every_way(factors: Factors) -> Iterator[Row]:
    """Every layout with several rows under each value of each option in :data:`_WAYS`, all else as usual.

    Pairs alone may meet in a batch without rows, where nothing can go wrong.
    """
    usual = {key: values[0] for key, values in factors.items()}
    for key, layout, container in itertools.product(_WAYS, factors["layout"], factors["container"]):
        for value in factors.get(key, ())[1:]:
            made = {**usual, "layout": layout, "container": container, key: value}
            for row in ({**made, "nulls": nulls} for nulls in ("some", "all")):
                if _is_permitted(tuple(row.items())):
                    yield row
                    break


def _projected(factors: Factors) -> Iterator[Row]:
    """Every layout with several rows of which some columns are read, of each container and version, all else as usual.

    How many buffers a reader has to skip depends on all three.
    """
    usual = {key: values[0] for key, values in factors.items()}
    chosen = factors.get("included_fields", ())[1:2]
    for value, *places in itertools.product(chosen, factors["layout"], factors["container"], factors["version"]):
        where = dict(zip(("layout", "container", "version"), places, strict=True))
        for nulls in ("some", "all"):
            row = {**usual, **where, "nulls": nulls, "included_fields": value}
            if _is_permitted(tuple(row.items())):
                yield row
                break


def _known(factors: Factors) -> list[Row]:
    """The rows of the space; a reader of streams alone gets files as streams, and the other way round."""
    containers = factors["container"]
    twins = (
        {**row, "container": row["container"] if row["container"] in containers else containers[0]} for row in rows()
    )
    permitted = (row for row in twins if excluded(row) is None)
    return list({tuple(row.items()): row for row in permitted}.values())


def covered(read: Iterable[Mapping[str, Hashable]], factors: Factors) -> Coverage:
    """Return how many of the combinations the readings cover: pairs of all factors, and triples of five."""
    return coverage(read, factors, _is_permitted, threes=THREES)


_Frozen = tuple[tuple[str, tuple[Hashable, ...]], ...]


def _frozen(factors: Factors) -> _Frozen:
    return tuple((key, tuple(values)) for key, values in factors.items())


@functools.lru_cache(maxsize=8)
def _extended(frozen: _Frozen) -> tuple[Row, ...]:
    """The rows of a space, which several readers may have in common."""
    factors = dict(frozen)
    return tuple(extended(_known(factors), factors, _is_permitted))


def _is_permitted(combination: Combination) -> bool:
    row = dict(combination)
    return excluded(row) is None and not any(each.forbids(row) for each in READING_EXCLUSIONS)
