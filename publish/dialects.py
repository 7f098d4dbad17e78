"""Put the restriction of each wrong reading to real engines: ``python -m publish.dialects ENGINE…``.

The cases of ``cases/restriction/dialects.yaml`` hold one restriction for each reading. An engine gets the table and the
text as an emulator would pass them on: only names of types are replaced. ``publish/dialects.json`` keeps what was
measured, and the table in ``docs/restrictions.md`` is made from it. Engines that are not named keep their results.
PostgreSQL and MariaDB are reached as ``POSTGRESQL_DSN`` and ``MARIADB_SOCKET`` say.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from conformance.generate import load_cases, to_json_rows
from conformance.generate.materialise import materialise
from conformance.protocols.storage_read.generate.dialects import ENGINES, READINGS
from conformance.protocols.storage_read.reference.mutants.dialects import keep_as
from conformance.protocols.storage_read.reference.restriction import RestrictionError
from conformance.records import BqType, Case, Column, CreateSession

__all__ = ["MEASURED", "PAGE", "Engine", "engines", "measure", "table", "with_table"]

ROOT: Final = Path(__file__).parent.parent
MEASURED: Final = ROOT / "publish" / "dialects.json"
PAGE: Final = ROOT / "docs" / "restrictions.md"
_BEGIN, _END = "<!-- measured -->", "<!-- /measured -->"
_ZONED: Final = "local-zone"
"""The reading that is measured in a session in Tokyo's time; all others in UTC."""


@dataclasses.dataclass(frozen=True)
class Engine:
    """One engine: how to connect, its types, and what is replaced in a text.

    ``connect`` returns a connection of Python's database interface and the version of the engine. ``zone`` is the
    statement that sets the session's time zone. ``mark`` is the place of a parameter.
    """

    name: str
    connect: Callable[[], tuple[Any, str]]
    types: Mapping[BqType, str]
    replaced: Sequence[tuple[str, str]]
    zone: str = ""
    zones: tuple[str, str] = ("UTC", "Asia/Tokyo")
    mark: str = "?"
    quote: str = '"'
    instants: str = "{}"

    def rows(self, connection: Any, case: Case, zone: str) -> list[int] | str:
        """The indices of the rows that the engine selects, or the beginning of its refusal."""
        cursor = connection.cursor()
        columns = case.table.columns
        declared = ", ".join(f"{self.quote}{each.name}{self.quote} {self._type(each)}" for each in columns)
        with contextlib.suppress(Exception):
            cursor.execute("DROP TABLE dialect")
        self._set_zone(cursor, self.zones[0])
        try:
            cursor.execute(f"CREATE TABLE dialect ({declared})")
            marks = ", ".join([self.mark] * len(columns))
            for row in to_json_rows(materialise(case.table), columns):
                values = [self._stored(each, row[each.name]) for each in columns]
                cursor.execute(f"INSERT INTO dialect VALUES ({marks})", values)  # noqa: S608  # the suite's own texts, for an engine of its own
        except Exception as error:  # noqa: BLE001  # each engine has errors of its own
            return f"cannot store the values: {_first_line(error)}"
        self._set_zone(cursor, zone)
        try:
            cursor.execute(f"SELECT id FROM dialect WHERE {self.text(restriction_of(case))}")  # noqa: S608  # the suite's own texts, for an engine of its own
            return sorted(int(row[0]) - 1 for row in cursor.fetchall())
        except Exception as error:  # noqa: BLE001  # as above
            return f"refused: {_first_line(error)}"

    def _set_zone(self, cursor: Any, zone: str) -> None:
        if self.zone:
            cursor.execute(self.zone.format(zone))

    def _type(self, column: Column) -> str:
        if column.type is BqType.RECORD:
            inner = ", ".join(f"{each.name} {self._type(each)}" for each in column.fields)
            return self.types[BqType.RECORD].format(inner)
        return self.types[column.type]

    def _stored(self, column: Column, value: Any) -> Any:
        if column.type is BqType.TIMESTAMP and value is not None:
            return self.instants.format(value.replace("T", " ").removesuffix("Z"))
        if value == "NaN":
            return float("nan")
        if isinstance(value, dict) and not self.types[BqType.RECORD].startswith("STRUCT("):
            return json.dumps(value)
        return value

    def text(self, restriction: str) -> str:
        """The restriction with the engine's names of types."""
        for pattern, by in self.replaced:
            restriction = re.sub(pattern, by, restriction)
        return restriction


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:120] if str(error).strip() else type(error).__name__


def restriction_of(case: Case) -> str:
    """The restriction of the case's only session."""
    session = case.steps[0]
    assert isinstance(session, CreateSession)
    return session.row_restriction


def engines() -> dict[str, Engine]:
    """The engines by name."""
    return {engine.name: engine for engine in (_SQLITE, _DUCKDB, _POSTGRESQL, _MARIADB, _SPARK)}


def _types(text: str) -> dict[BqType, str]:
    kinds = (BqType.INT64, BqType.FLOAT64, BqType.NUMERIC, BqType.STRING, BqType.BOOL, BqType.DATE, BqType.TIMESTAMP)
    return dict(zip((*kinds, BqType.RECORD), text.split("|"), strict=True))


_CASTS: Final = (r"\bAS INT64\)", "AS BIGINT)")


def _sqlite() -> tuple[Any, str]:
    sqlite3 = importlib.import_module("sqlite3")
    return sqlite3.connect(":memory:"), sqlite3.sqlite_version


_SQLITE: Final = Engine(
    "SQLite",
    _sqlite,
    _types("INTEGER|REAL|NUMERIC|STRING|BOOLEAN|TEXT|TEXT|TEXT"),
    (
        (r"\bNUMERIC '([\d.]+)'", r"\1"),
        (r"\b(DATE|TIMESTAMP) (?=')", ""),
        (r"\bSAFE_CAST\b", "CAST"),
        (r"\bAS STRING\)", "AS TEXT)"),
        (r"\bAS INT64\)", "AS INTEGER)"),
    ),
)


def _duckdb() -> tuple[Any, str]:
    duckdb = importlib.import_module("duckdb")
    return duckdb.connect(), duckdb.__version__


_DUCKDB: Final = Engine(
    "DuckDB",
    _duckdb,
    _types("BIGINT|DOUBLE|DECIMAL(38, 9)|VARCHAR|BOOLEAN|DATE|TIMESTAMPTZ|STRUCT({})"),
    ((r"\bSAFE_CAST\b", "TRY_CAST"), _CASTS),
    zone="SET TimeZone = '{}'",
    instants="{}+00",
)


def _postgresql() -> tuple[Any, str]:
    psycopg = importlib.import_module("psycopg")
    connection = psycopg.connect(os.environ["POSTGRESQL_DSN"], autocommit=True, prepare_threshold=None)
    version = str(connection.info.server_version)
    return connection, f"{version[:2]}.{int(version[2:])}"


_POSTGRESQL: Final = Engine(
    "PostgreSQL",
    _postgresql,
    _types('BIGINT|DOUBLE PRECISION|NUMERIC|TEXT COLLATE "en-x-icu"|BOOLEAN|DATE|TIMESTAMPTZ|TEXT'),
    ((r"\bSAFE_CAST\b", "CAST"), _CASTS, (r"\bAS STRING\)", "AS TEXT)")),
    zone="SET TIME ZONE '{}'",
    mark="%s",
    instants="{}+00",
)


def _mariadb() -> tuple[Any, str]:
    pymysql = importlib.import_module("pymysql")
    connection = pymysql.connect(
        unix_socket=os.environ["MARIADB_SOCKET"], database="test", charset="utf8mb4", autocommit=True
    )
    return connection, connection.get_server_info().partition("-MariaDB")[0].split("-")[-1]


_MARIADB: Final = Engine(
    "MariaDB",
    _mariadb,
    _types("BIGINT|DOUBLE|DECIMAL(38, 9)|VARCHAR(100)|BOOLEAN|DATE|TIMESTAMP(6) NULL|TEXT"),
    (
        (r"\bNUMERIC '([\d.]+)'", r"\1"),
        (r"\bSAFE_CAST\b", "CAST"),
        (r"\bAS STRING\)", "AS CHAR)"),
        (r"\bAS INT64\)", "AS SIGNED)"),
    ),
    zone="SET time_zone = '{}'",
    zones=("+00:00", "+09:00"),
    mark="%s",
    quote="`",
)


class _SparkCursor:
    """As much of a cursor over a Spark session as this module uses."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self.columns = ""
        self.rows: list[Any] = []

    def cursor(self) -> _SparkCursor:
        return self

    def close(self) -> None:
        self.spark.stop()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        if statement.startswith("CREATE TABLE"):
            self.columns, self.rows = statement.partition("(")[2].removesuffix(")"), []
        elif statement.startswith("INSERT"):
            self.rows.append(values)
        elif statement.startswith("SET"):
            self.spark.conf.set("spark.sql.session.timeZone", statement.removeprefix("SET "))
        elif statement.startswith("SELECT"):
            kinds = _split(self.columns)
            made = [
                f"from_json(c{at}, '{kind[7:-1]}') AS {name}"
                if kind.startswith("STRUCT")
                else f"CAST(c{at} AS {kind}) AS {name}"
                for at, (name, kind) in enumerate(kinds)
            ]
            heads = ", ".join(f"c{at}" for at in range(len(kinds)))
            marks = ", ".join([f"({', '.join('?' * len(kinds))})"] * len(self.rows))
            texts = [None if value is None else str(value) for row in self.rows for value in row]
            frame = self.spark.sql(f"SELECT {', '.join(made)} FROM VALUES {marks} AS t({heads})", args=texts)  # noqa: S608  # the suite's own texts, for an engine of its own
            frame.createOrReplaceTempView("dialect")
            self.rows = self.spark.sql(statement).collect()

    def fetchall(self) -> list[Any]:
        return self.rows


def _split(columns: str) -> list[tuple[str, str]]:
    """Name and type of each column of a declaration."""
    parts = re.split(r", (?=`)", columns)
    return [(part.partition(" ")[0], part.partition(" ")[2]) for part in parts]


def _spark() -> tuple[Any, str]:
    sql = importlib.import_module("pyspark.sql")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return _SparkCursor(spark), spark.version


_SPARK: Final = Engine(
    "Spark",
    _spark,
    _types("BIGINT|DOUBLE|DECIMAL(38, 9)|STRING|BOOLEAN|DATE|TIMESTAMP|STRUCT<{}>"),
    (
        (r"\bNUMERIC ('[\d.]+')", r"CAST(\1 AS DECIMAL(38, 9))"),
        (r"\bSAFE_CAST\b", "TRY_CAST"),
        _CASTS,
    ),
    zone="SET {}",
    quote="`",
    instants="{}+00:00",
)


@functools.cache
def _cases() -> dict[str, Case]:
    prefix = "restriction.dialects."
    cases = load_cases(ROOT / "cases")
    return {case.id.removeprefix(prefix): case for case in cases if case.id.startswith(prefix)}


def measure(engine: Engine) -> dict[str, Any]:
    """The engine's version, and for each reading the rows that it selects or the beginning of its refusal."""
    opened, version = engine.connect()
    results: dict[str, Any] = {}
    with closing(opened) as connection:
        for reading, case in _cases().items():
            results[reading] = engine.rows(connection, case, engine.zones[reading == _ZONED])
    return {"version": version, "rows": results}


def shown(case: Case, result: Sequence[int] | str) -> str:
    """A cell of the table."""
    session = case.steps[0]
    assert isinstance(session, CreateSession)
    if isinstance(result, str):
        return result.partition(":")[0]
    if tuple(result) == session.expect.rows:
        return "as BigQuery"
    return "rows " + ", ".join(map(str, result)) if result else "no row"


def table(measured: Mapping[str, Any]) -> str:
    """The table of what was measured, as Markdown: what differs from BigQuery, for each reading and engine."""
    heads = [f"{name} {measured[name]['version']}" for name in ENGINES]
    lines = [f"| reading | restriction | BigQuery | {' | '.join(heads)} |", "|---" * (len(heads) + 3) + "|"]
    for reading, case in _cases().items():
        session = case.steps[0]
        assert isinstance(session, CreateSession)
        text = session.row_restriction.replace("|", "\\|")
        fence = "``" if "`" in text else "`"
        pad = " " if "`" in text else ""
        right = "rows " + ", ".join(map(str, session.expect.rows or ())) if session.expect.rows else "no row"
        cells = [shown(case, measured[name]["rows"][reading]) for name in ENGINES]
        lines.append(f"| {reading} | {fence}{pad}{text}{pad}{fence} | {right} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def reading_engines(measured: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each reading the engines that do on its restriction what the reading does: the same rows, or a refusal."""
    return {
        reading: tuple(name for name in ENGINES if _outcome(measured[name]["rows"][reading]) == _read_so(reading))
        for reading in READINGS
    }


def _outcome(result: Sequence[int] | str) -> tuple[int, ...] | str:
    return result.partition(":")[0] if isinstance(result, str) else tuple(result)


def _read_so(reading: str) -> tuple[int, ...] | str:
    case = _cases()[reading]
    try:
        kept = keep_as(reading, restriction_of(case), case.table.columns, materialise(case.table))
    except RestrictionError:
        return "refused"
    return tuple(index for index, held in enumerate(kept.to_pylist()) if held)


def with_table(page: str, text: str) -> str:
    """The page with its table replaced."""
    before, _, rest = page.partition(_BEGIN)
    return f"{before}{_BEGIN}\n{text}{_END}{rest.partition(_END)[2]}"


def main(names: Sequence[str]) -> None:
    """Measure the named engines, and write the results and the page."""
    measured = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    for name in names:
        measured[name] = measure(engines()[name])
        sys.stdout.write(f"{name} {measured[name]['version']}: {len(measured[name]['rows'])} restrictions\n")
    MEASURED.write_text(json.dumps(measured, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    if set(measured) == set(ENGINES) and PAGE.exists():
        PAGE.write_text(with_table(PAGE.read_text(), table(measured)))


if __name__ == "__main__":
    main(sys.argv[1:])
