"""Row restrictions: a table of valid forms with the rows they keep, and of forms that must be refused.

The module is long because the two tables are; its tests are few.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.generate.materialise import materialise
from conformance.generate.written import array_from_values
from conformance.protocols.storage_read.reference.catalogue import stored_column
from conformance.protocols.storage_read.reference.restriction import RestrictionError, keep
from conformance.records import BqType, Column, Json, Mode, Table

T = BqType
COLUMNS = (
    Column("id", T.INT64),
    Column("f", T.FLOAT64),
    Column("s", T.STRING),
    Column("b", T.BYTES),
    Column("d", T.DATE),
    Column("dt", T.DATETIME),
    Column("ts", T.TIMESTAMP),
    Column("tm", T.TIME),
    Column("n", T.NUMERIC),
    Column("bn", T.BIGNUMERIC),
    Column("p", T.NUMERIC, precision=5, scale=2),
    Column("ok", T.BOOL),
    Column("r", T.RECORD, fields=(Column("a", T.INT64), Column("q", T.RECORD, fields=(Column("z", T.STRING),)))),
    Column("arr", T.INT64, Mode.REPEATED),
    Column("g", T.GEOGRAPHY),
    Column("j", T.JSON),
    Column("iv", T.INTERVAL),
    Column("update", T.INT64),
    Column("Select", T.INT64),
)
ROWS = (
    {
        "id": 1,
        "f": 1.5,
        "s": "SELECT x",
        "b": "AQ==",
        "d": "2020-01-01",
        "dt": "2020-01-01T00:00:00",
        "ts": "2020-01-01T00:00:00Z",
        "tm": "01:02:03",
        "n": "1.5",
        "bn": "1.5",
        "p": "1.25",
        "ok": True,
        "r": {"a": 1, "q": {"z": "x"}},
        "arr": [1, 2],
        "g": "POINT(2 2)",
        "j": "{}",
        "update": 1,
        "Select": 1,
    },
    {
        "id": 2,
        "f": "NaN",
        "s": "it's a\nb%",
        "b": "Ag==",
        "d": "2021-01-01",
        "dt": "2021-01-01T00:00:00",
        "ts": "2021-01-01T00:00:00Z",
        "tm": "11:02:03",
        "n": "-2",
        "bn": "3",
        "p": "5",
        "ok": False,
        "r": {"a": 2, "q": None},
        "arr": [],
        "g": "POINT(1 2)",
        "j": "[]",
        "update": 2,
        "Select": 2,
    },
    {"arr": [3]},
)
FIRST, SECOND, THIRD = {0}, {1}, {2}
ALL: set[int] = {0, 1, 2}
NONE: set[int] = set()


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """Three rows: two different ones, and one of NULLs."""
    return materialise(Table(tuple(map(stored_column, COLUMNS)), rows=tuple(map(Json, ROWS))))


VALID: dict[str, set[int]] = {
    # comparison
    "id = 1": FIRST,
    "id <> 1": SECOND,
    "id != 1": SECOND,
    "id >= 1": FIRST | SECOND,
    "1 < id": SECOND,
    "id = 0x1": FIRST,
    "id > 1.5": SECOND,
    "id > -9223372036854775808": FIRST | SECOND,
    "f = f": FIRST,
    "f > 1e0": FIRST,
    "NOT f = f": SECOND,
    "ok": FIRST,
    "NOT ok": SECOND,
    "ok = FALSE": SECOND,
    "(id) = ((1))": FIRST,
    "b = b'\\x01'": FIRST,
    'b = b"\\001"': FIRST,
    "b > rb'a'": NONE,
    "ID = 1": FIRST,
    "`id` = 1": FIRST,
    "update = 2": SECOND,
    "`select` = 2": SECOND,
    # strings
    "s = 'SELECT x'": FIRST,
    's = "SELECT x"': FIRST,
    "s = 'it\\'s a\\nb%'": SECOND,
    's = "it\'s a\\nb%"': SECOND,
    "s = '''it's a\nb%'''": SECOND,
    "s = 'it\\u0027s a\\x0ab\\045'": SECOND,
    "s = r'it\\n'": NONE,
    "s = 'DROP TABLE x; -- /* '": NONE,
    "s LIKE 'SELECT%'": FIRST,
    "s LIKE '%_x'": FIRST,
    "s LIKE 'it%'": SECOND,
    "s LIKE '%b\\\\%'": SECOND,
    "s LIKE 'select%'": NONE,
    "s LIKE s": FIRST | SECOND,
    "s NOT LIKE 'S%'": SECOND,
    # temporal
    "d = DATE '2020-01-01'": FIRST,
    "d = DATE '2020-1-1'": FIRST,
    "d = CAST('2020-1-1' as DATE)": FIRST,
    'd > "2020-06-01"': SECOND,
    "d BETWEEN '2020-01-01' AND '2020-12-31'": FIRST,
    "dt = DATETIME '2020-01-01 00:00:00'": FIRST,
    "dt >= d": FIRST | SECOND,
    "ts >= TIMESTAMP '2020-12-31 23:00:00-01:00'": SECOND,
    "ts = TIMESTAMP '2019-12-31 16:00:00 America/Los_Angeles'": FIRST,
    "ts < '2020-06-01'": FIRST,
    'ts = TIMESTAMP("2020-01-01 00:00:00+00")': FIRST,
    "DATE(ts) = d": FIRST | SECOND,
    "tm < TIME '10:00:00'": FIRST,
    # decimals
    "n = 1.5": FIRST,
    "n = NUMERIC '1.5'": FIRST,
    "n BETWEEN 1.0 AND 5.0": FIRST,
    "bn = BIGNUMERIC '3'": SECOND,
    "n < bn": SECOND,
    "p = 1.25": FIRST,
    "n = f": FIRST,
    "n + 1 = 2.5": FIRST,
    "-n = 2": SECOND,
    # logic of three values
    "NULL": NONE,
    "TRUE": ALL,
    "FALSE": NONE,
    "id IS NULL": THIRD,
    "id is not NULL": FIRST | SECOND,
    "ok IS TRUE": FIRST,
    "ok IS NOT TRUE": SECOND | THIRD,
    "id = NULL": NONE,
    "id = 1 OR NULL": FIRST,
    "NOT (id = 1 AND NULL)": SECOND,
    "id = 1 OR id = 2 AND ok": FIRST,
    "NOT id = 1 OR ok": FIRST | SECOND,
    "id IN (1, 5)": FIRST,
    "id IN (1, NULL)": FIRST,
    "id NOT IN (1)": SECOND,
    "id NOT IN (1, NULL)": NONE,
    "d IN ('2020-01-01', '2022-01-01')": FIRST,
    "id NOT BETWEEN 2 AND 3": FIRST,
    # nesting
    "r.a = 1": FIRST,
    "R.Q.Z = 'x'": FIRST,
    "r.q.z IS NULL": SECOND | THIRD,
    "r.q IS NULL": SECOND | THIRD,
    "r IS NULL": THIRD,
    "iv IS NULL": ALL,
    # arrays
    "1 IN UNNEST(arr)": FIRST,
    "id IN UNNEST(arr)": FIRST,
    "3 NOT IN UNNEST(arr)": FIRST | SECOND,
    "id IN UNNEST([1, 7])": FIRST,
    "ARRAY_LENGTH(arr) = 0": SECOND,
    # arithmetic, functions, choice, conversion
    "id + 1 = 2": FIRST,
    f"id = {'0' * 5000}1": FIRST,
    f"id = 0x{'0' * 5000}1": FIRST,
    "id * 2 - 1 = 3": SECOND,
    "id / 2 = 0.5": FIRST,
    "- -id = 1": FIRST,
    "MOD(id, 2) = 0": SECOND,
    "DIV(id, 2) = 1": SECOND,
    "ABS(n) = 2": SECOND,
    "STARTS_WITH(s, 'SEL')": FIRST,
    'starts_with(s, "SEL")': FIRST,
    "ENDS_WITH(s, 'x')": FIRST,
    "LENGTH(s) = 8": FIRST,
    "LOWER(s) = 'select x'": FIRST,
    "CONCAT(s, '!') = 'SELECT x!'": FIRST,
    "s || '!' = 'SELECT x!'": FIRST,
    "SUBSTR(s, 1, 3) = 'SEL'": FIRST,
    "SUBSTR(s, -1) = 'x'": FIRST,
    "REGEXP_CONTAINS(s, r'^S.*x$')": FIRST,
    "COALESCE(id, 7) = 7": THIRD,
    "IFNULL(ok, TRUE)": FIRST | THIRD,
    "NULLIF(id, 1) IS NULL": FIRST | THIRD,
    "IS_NAN(f)": SECOND,
    "IF(id = 1, TRUE, FALSE)": FIRST,
    "CASE WHEN id = 1 THEN 'a' ELSE 'b' END = 'b'": SECOND | THIRD,
    "CASE id WHEN 1 THEN TRUE END": FIRST,
    "CAST(id AS STRING) = '1'": FIRST,
    "CAST(s = 'SELECT x' AS INT64) = 1": FIRST,
    "SAFE_CAST(s AS INT64) IS NULL": ALL,
    "CAST(ts AS DATE) = d": FIRST | SECOND,
    'st_equals(g, st_geogfromtext("POINT(2 2)"))': FIRST,
    # comments
    "id = 1 -- a comment": FIRST,
    "id = 1 # a comment": FIRST,
    "/* a comment */ id = 1": FIRST,
}


@pytest.mark.parametrize("text", VALID)
def test_valid_restriction_keeps_its_rows(rows: pa.Table, text: str) -> None:
    """A restriction keeps the rows for which it is TRUE, and drops FALSE and NULL."""
    kept = keep(text, COLUMNS, rows)

    assert {index for index, held in enumerate(kept.to_pylist()) if held} == VALID[text]


REFUSED = (
    # nothing, too little, too much
    "",
    "   ",
    "id =",
    "= 1",
    "id = = 1",
    "ok AND",
    "AND ok",
    "(id = 1",
    "id = 1)",
    "id = 1) OR (TRUE",
    "id = 1 id",
    "id = 1 AS x",
    "id = 1;",
    "id = 1; DROP TABLE t",
    "id BETWEEN 1",
    "id IN ()",
    "id IN (1,)",
    "LENGTH(s,) = 1",
    "WHERE id = 1",
    "id = 1 ORDER BY id",
    "id = 1 LIMIT 1",
    "id = 1 UNION ALL SELECT 1",
    "SELECT 1",
    "select = 1",
    "end = 1",
    "/* no end",
    "s = 'no end",
    's = "no end',
    "s = 'two\nlines'",
    "s = 'a' 'b'",
    "s = '\\q'",
    "id = 1 \\",
    '{"id": 1}',
    "id 1",
    "id = 1.5.2",
    "id = .1.5",
    "id . 1",
    "id . = 1",
    "id IN UNNEST([(])",
    "id IN UNNEST(NOT)",
    # other dialects
    "id == 1",
    "id <=> 1",
    "id::STRING = '1'",
    "id && 1",
    "ok XOR ok",
    "id NOTNULL",
    "id ISNULL",
    "s ILIKE 'a'",
    "s RLIKE 'a'",
    "s REGEXP 'a'",
    "NVL(id, 1) = 1",
    "STARTSWITH(s, 'a')",
    "id = @p",
    "id = ?",
    "id = $1",
    # not allowed here
    "COUNT(id) > 1",
    "COUNT(*) > 1",
    "SUM(id) OVER () > 1",
    "EXISTS(SELECT 1)",
    "id IN (SELECT 1)",
    "id = (SELECT 1)",
    "id = ALL (1)",
    "s LIKE ANY ('a', 'b')",
    "s LIKE 'a' ESCAPE 'b'",
    "RAND() < 2",
    "id = INTERVAL 1 DAY",
    "arr[OFFSET(0)] = 1",
    "NO_SUCH_FUNCTION(id)",
    # types
    "1",
    "id",
    "'x'",
    "s",
    "r",
    "arr",
    "id AND ok",
    "NOT id",
    "id = 'x'",
    "id < '3'",
    "s = 1",
    "b = 'x'",
    "ok = 1",
    "d = 1",
    "ts = d",
    "ts = dt",
    "j = '1'",
    "g = 'POINT(1 2)'",
    "r = 1",
    "arr = 1",
    "iv = 1",
    "id IS TRUE",
    "id IS 1",
    "1 IN UNNEST(id)",
    "id LIKE '1'",
    "IF(id, TRUE, FALSE)",
    "LENGTH(id) = 1",
    "LENGTH() = 1",
    "LENGTH(s, s) = 1",
    "CAST(id AS DATE) = d",
    "CAST(id AS NOTYPE) = 1",
    "iv * NULL IS NULL",
    "-r = 1",
    "SUBSTR(s, 1.5) = 'x'",
    "IF(ok, TRUE)",
    "id IN UNNEST(1, 2)",
    "CAST(arr AS STRING) = 'x'",
    "COALESCE(r, r) IS NULL",
    # names
    "nosuch = 1",
    "r.nosuch = 1",
    "id.a = 1",
    "arr.a = 1",
    # values
    "d = 'x'",
    "d = '2020-13-01'",
    "d = DATE '2020-02-30'",
    "ts = '2020-01-01 25:00:00'",
    "ts = '2020-01-01 00:00:00 No/Zone'",
    "id = 99999999999999999999",
    f"id = {'9' * 5000}",
    f"id = -{'9' * 5000}",
    f"id = 0x{'f' * 5000}",
    f"SUBSTR(s, {'9' * 5000}) = 'x'",
    "id / 0 = 1",
    "DIV(id, 0) = 1",
    "id + 9223372036854775807 > 0",
    "CAST(s AS INT64) = 1",
    "REGEXP_CONTAINS(s, '(')",
    "s LIKE 'a\\\\'",
    # comparisons do not associate
    "id = id = ok",
    "1 < id < 2",
    "id > 1 IS TRUE = ok",
)


@pytest.mark.parametrize("text", REFUSED)
def test_bad_restriction_is_refused(rows: pa.Table, text: str) -> None:
    """A malformed, non-boolean, unknown or unsupported restriction is refused, never ignored."""
    with pytest.raises(RestrictionError):
        keep(text, COLUMNS, rows)


@pytest.mark.parametrize("text", VALID)
def test_restriction_over_no_rows(rows: pa.Table, text: str) -> None:
    """Every valid form is valid over an empty table as well."""
    kept = keep(text, COLUMNS, rows.slice(0, 0))

    assert kept.to_pylist() == []


def test_long_chains_are_evaluated(rows: pa.Table) -> None:
    """A chain of thousands of alternatives is no deeper than one."""
    text = " OR ".join(f"id = {number}" for number in range(3000))

    kept = keep(text, COLUMNS, rows)

    assert kept.to_pylist() == [True, True, False]


def test_deep_nesting_is_refused(rows: pa.Table) -> None:
    """Thousands of parentheses are refused instead of breaking the server."""
    with pytest.raises(RestrictionError):
        keep("(" * 5000 + "ok" + ")" * 5000, COLUMNS, rows)


SOUP = """
r.a r.q.z 1 2 1.5 .5 0 'x' '2020-01-01' b'x' r'%' NULL TRUE FALSE = <> < >= + - * / || ( ) , . [ ]
AND OR NOT IN IS LIKE BETWEEN CASE WHEN THEN ELSE END CAST AS INT64 STRING DATE NUMERIC UNNEST IF MOD
LENGTH CONCAT COALESCE STARTS_WITH SAFE_CAST DISTINCT FROM INTERVAL ARRAY EXISTS OVER ` ' " -- /* # ? @ :: -> ;
"""
WORDS = (*(column.name for column in COLUMNS), *SOUP.split())


@settings(max_examples=300)
@given(words=st.lists(st.sampled_from(WORDS), max_size=12))
def test_any_text_is_evaluated_or_refused(rows: pa.Table, words: list[str]) -> None:
    """Whatever the text, the answer is one truth value per row or a refusal, and no other error."""
    try:
        kept = keep(" ".join(words), COLUMNS, rows)
    except RestrictionError:
        return

    assert len(kept) == len(ROWS)
    assert kept.null_count == 0


def test_a_bignumeric_literal_may_have_77_digits() -> None:
    """The 77th digit of a BIGNUMERIC is partial, and literals that have it are read exactly."""
    columns = (Column("b", BqType.BIGNUMERIC),)
    rows = array_from_values(columns[0], ["-100000000000000000000000000000000000000", "0", None])

    kept = keep("b < BIGNUMERIC '-99999999999999999999999999999999999999.5'", columns, pa.table({"b": rows}))

    assert kept.to_pylist() == [True, False, False]
