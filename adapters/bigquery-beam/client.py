"""Client of Apache Beam: a pipeline reads a table with ``ReadFromBigQuery`` for the suite.

Built by ``python -m adapters bigquery-beam``; ``serving.py`` speaks the protocol. The transform has no option for its
endpoints, so it reads through the proxy of the suite's replay server, which its libraries take from the environment.
Values are those of its rows, which are dictionaries of Python values.
"""

from __future__ import annotations

import datetime as dt
import decimal
import importlib.metadata
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from serving import needs_environment, serve

from conformance.wire import PlainTable

NAME = "apache-beam"
USER = Path(__file__).with_name("user.json")
"""Credentials of nobody: the replay server gives everyone a token."""

rows: list[dict[str, Any]] = []
"""What the pipeline of the current request has read."""


def keep(row: dict[str, Any]) -> None:
    """The last step of the pipeline, which the runner takes in this process."""
    rows.append(row)


def direct_read(asked: Mapping[str, Any]) -> PlainTable:
    """The rows of a pipeline that reads the table."""
    needs_environment(surroundings(asked["proxy"], asked["ca"]))
    import apache_beam as beam  # noqa: PLC0415  # hello needs no Beam, whose import takes seconds
    from apache_beam.options.pipeline_options import PipelineOptions  # noqa: PLC0415  # as above

    project, dataset, table = asked["table"].split("/")[1::2]
    read = beam.io.ReadFromBigQuery(
        method=beam.io.ReadFromBigQuery.Method.DIRECT_READ,
        use_native_datetime=True,
        table=f"{project}:{dataset}.{table}",
        selected_fields=asked["columns"] or None,
        row_restriction=asked["restriction"] or None,
    )
    # The DirectRunner would first look for Prism, a program that it downloads, and go on without it.
    options = PipelineOptions([], allow_unsafe_triggers=True)
    rows.clear()
    with beam.Pipeline("DirectRunner", options=options) as pipeline:
        _ = pipeline | read | beam.Map(keep)
    names = tuple(rows[0]) if rows else ()
    return PlainTable(names, tuple([plain(row[name]) for row in rows] for name in names), len(rows))


def surroundings(proxy: str, authority: str) -> dict[str, str]:
    """The variables by which gRPC, httplib2 and requests find the proxy, and trust its certificate."""
    return {
        "GOOGLE_APPLICATION_CREDENTIALS": str(USER),
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": authority,
        "HTTPLIB2_CA_CERTS": authority,
        "REQUESTS_CA_BUNDLE": authority,
        **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy),
        **dict.fromkeys(("no_proxy", "NO_PROXY"), ""),
    }


def plain(value: Any) -> Any:  # noqa: PLR0911  # one for each type
    """A value of a row in the form of :mod:`conformance.wire.plain`."""
    match value:
        case float():
            return {"f64": "nan" if math.isnan(value) else struct.pack(">d", value).hex()}
        case bytes():
            return {"hex": value.hex()}
        case decimal.Decimal():
            sign, digits, _ = value.as_tuple()
            return {"decimal": str((-1 if sign else 1) * int("".join(map(str, digits))))}
        case dt.datetime():
            return (value - dt.datetime(1970, 1, 1, tzinfo=value.tzinfo)) // dt.timedelta(microseconds=1)
        case dt.date():
            return (value - dt.date(1970, 1, 1)).days
        case dt.time():
            return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
        case pa.MonthDayNano():
            return {"months": value.months, "days": value.days, "ns": value.nanoseconds}
        case dict():
            return {"struct": [plain(one) for one in value.values()]}
        case list():
            return [plain(one) for one in value]
    return value


def main() -> None:
    """Answer requests until standard input ends."""
    about = {"implementation": "bigquery-beam", "title": NAME, "version": importlib.metadata.version(NAME)}
    serve(about, {"direct-read": direct_read}, lambda error: type(error).__name__)


if __name__ == "__main__":
    # Beam pickles the functions of a main program with a copy of what they use, and those of a module by their name.
    import client

    client.main()
