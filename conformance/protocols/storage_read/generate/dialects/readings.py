"""The wrong readings: how other dialects of SQL read what BigQuery documents, and which engines read so.

Each is one difference between BigQuery and an engine that an implementer may pass restrictions to. ``engines`` are
those that were measured to read so, by ``python -m publish.dialects``; its table is in ``docs/restrictions.md``. A
reading without engines is a mistake of hand-written evaluators.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["ENGINES", "LOCAL_ZONE_HOURS", "READINGS", "DialectReading"]

ENGINES: Final = ("SQLite", "DuckDB", "PostgreSQL", "MariaDB", "Spark")
"""The engines that are measured. MariaDB answers for the MySQL family."""

LOCAL_ZONE_HOURS: Final = 9
"""The offset from UTC of the time zone in which a reading takes times for local ones: Asia/Tokyo, which has no
daylight saving time.
"""

_DOCS: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/"
_LITERALS: Final = f"{_DOCS}lexical#string_and_bytes_literals"
_COMMENTS: Final = f"{_DOCS}lexical#comments"
_IDENTIFIERS: Final = f"{_DOCS}lexical#identifiers"
_COMPARISON: Final = f"{_DOCS}operators#comparison_operators"
_LOGICAL: Final = f"{_DOCS}operators#logical_operators"
_ARITHMETIC: Final = f"{_DOCS}operators#arithmetic_operators"
_LIKE: Final = f"{_DOCS}operators#like_operator"
_CONVERSION: Final = f"{_DOCS}conversion_functions"
_STRINGS: Final = f"{_DOCS}string_functions"
_TYPES: Final = f"{_DOCS}data-types"


@dataclasses.dataclass(frozen=True, slots=True)
class DialectReading:
    """One way in which another dialect reads a restriction.

    ``fault`` says what the dialect does, ``rule`` what BigQuery documents at ``source``.
    """

    name: str
    fault: str
    rule: str
    source: str
    engines: tuple[str, ...] = ()


_S, _D, _P, _M, _K = ENGINES

# A table, one row per reading: name, what the dialect does, what BigQuery documents, source, engines.
# fmt: off
_ALL: Final = (
    DialectReading("double-quotes-are-names", "A text in double quotes is the column of that name.",
        "Double quotes enclose string literals, as single quotes do.", _LITERALS, (_S, _D, _P)),
    DialectReading("backslash-is-a-character", "A backslash in a literal is a character like any other.",
        "A backslash begins an escape sequence.", _LITERALS, (_S, _D, _P)),
    DialectReading("hex-escape-unknown", r"The escape \x41 is x41: only the backslash is dropped.",
        r"The escape \x and two hexadecimal digits are the character of that code.", _LITERALS, (_M, _K)),
    DialectReading("doubled-quote-is-a-quote", "In a literal in triple quotes, the inner quotes belong to the text.",
        "Three quotes begin and end a literal.", _LITERALS, (_S, _D, _P, _M, _K)),
    DialectReading("prefixes-unknown", "Literals with the prefixes r and b are refused.",
        "The prefix r makes a literal raw, b makes it BYTES.", _LITERALS, (_S, _D, _P, _M)),
    DialectReading("hash-is-no-comment", "A comment that begins with # is refused.",
        "A comment begins with # or -- and ends with the line.", _COMMENTS, (_S, _D, _P, _K)),
    DialectReading("dashes-need-a-blank", "Two dashes without a blank after them are two minus signs.",
        "Two dashes begin a comment.", _COMMENTS, (_M,)),
    DialectReading("comment-is-executed", "The text of a comment that begins with an exclamation mark is executed.",
        "What is between /* and */ is a comment.", _COMMENTS, (_M,)),
    DialectReading("backticks-unknown", "Names in backticks are refused.",
        "A name in backticks is a quoted identifier.", _IDENTIFIERS, (_P,)),
    DialectReading("names-fold-to-lower", "A name without quotes is in lower case, and a quoted one is exact.",
        "Names of columns do not depend on case.", f"{_DOCS}lexical#case_sensitivity", (_P,)),
    DialectReading("reserved-elsewhere", "The names check and table are refused: they are reserved words.",
        "Neither word is reserved.", f"{_DOCS}lexical#reserved_keywords", (_S, _D, _P, _M)),
    DialectReading("dotted-name-is-a-table",
        "The name before the dot is taken for a table, and the restriction is refused.",
        "A dot leads from a STRUCT to its field.", f"{_DOCS}operators#field_access_operator", (_S, _P, _M)),
    DialectReading("literals-are-decimals", "Literals with a decimal point are exact decimals.",
        "They are FLOAT64.", f"{_DOCS}lexical#floating_point_literals", (_D, _P, _M, _K)),
    DialectReading("numeric-is-a-double", "NUMERIC values are binary floating-point numbers.",
        "NUMERIC values are exact.", f"{_TYPES}#decimal_types", (_S,)),
    DialectReading("strings-become-numbers", "Texts of digits in a column of the type STRING are numbers.",
        "Strings compare as strings.", _COMPARISON, (_S,)),
    DialectReading("dates-are-texts", "Dates compare as the texts that they are written as.",
        "Dates compare as dates, and a month or day may have one digit.", f"{_DOCS}lexical#date_literals", (_S,)),
    DialectReading("zone-is-dropped", "The time zone of a TIMESTAMP literal is ignored.",
        "A TIMESTAMP literal is an instant in its time zone.", f"{_DOCS}lexical#timestamp_literals", (_S, _D, _P)),
    DialectReading("local-zone",
        "A TIMESTAMP without a time zone, and the date of a TIMESTAMP, are of the local time zone.",
        "The default time zone is UTC.", f"{_DOCS}lexical#timestamp_literals", (_D, _P, _M, _K)),
    DialectReading("boolean-text-is-a-digit", "A BOOL that is cast to a text is 1 or 0.",
        "It is true or false.", f"{_CONVERSION}#cast_as_string", (_S, _M)),
    DialectReading("like-ignores-case", "LIKE does not distinguish case.",
        "LIKE compares characters.", _LIKE, (_S, _M)),
    DialectReading("like-has-no-escape", "A backslash in a pattern stands for itself.",
        "A backslash makes the following character stand for itself.", _LIKE, (_S, _D)),
    DialectReading("text-ignores-case", "Strings that differ only in case are equal.",
        "Strings compare by their code points.", _COMPARISON, (_M,)),
    DialectReading("trailing-blanks-ignored", "Blanks at the end of a string do not count.",
        "Strings compare by their code points.", _COMPARISON, (_M,)),
    DialectReading("order-of-a-language", "Strings are in the order of a dictionary: a is before B.",
        "Strings compare by their code points.", _COMPARISON, (_P, _M)),
    DialectReading("division-of-integers", "The quotient of two integers is an integer.",
        "The quotient of two INT64 is a FLOAT64.", _ARITHMETIC, (_S, _P)),
    DialectReading("quotient-of-four-decimals", "The quotient of two integers has four decimals.",
        "The quotient of two INT64 is a FLOAT64.", _ARITHMETIC, (_M,)),
    DialectReading("nan-is-greatest", "NaN is equal to itself, and greater than every number.",
        "Every comparison with NaN is FALSE, but that of inequality.", f"{_TYPES}#floating_point_types", (_D, _P, _K)),
    DialectReading("nan-is-null", "NaN is NULL.",
        "NaN is a value.", f"{_TYPES}#floating_point_types", (_S,)),
    DialectReading("pipes-are-or", "Two vertical bars are the logical OR.",
        "Two vertical bars concatenate.", f"{_DOCS}operators#concatenation_operator", (_M,)),
    DialectReading("null-compares-false", "A comparison with NULL is FALSE, and its negation is TRUE.",
        "It is NULL, and so is its negation.", _LOGICAL),
    DialectReading("between-in-any-order", "BETWEEN exchanges bounds that are in the wrong order.",
        "X BETWEEN A AND B is X >= A AND X <= B.", _COMPARISON),
    DialectReading("cast-truncates", "CAST of a number as INT64 drops the decimals.",
        "It rounds half away from zero.", f"{_CONVERSION}#cast_as_integer", (_S, _K)),
    DialectReading("cast-rounds-to-even", "CAST of a FLOAT64 as INT64 rounds halves to even numbers.",
        "It rounds half away from zero.", f"{_CONVERSION}#cast_as_integer", (_D, _P, _M)),
    DialectReading("cast-takes-a-prefix", "A text that begins with a number is cast to it, and any other text to 0.",
        "SAFE_CAST of a text that is no number is NULL.", f"{_CONVERSION}#safe_casting", (_S, _M)),
    DialectReading("length-in-bytes", "LENGTH counts the bytes of a STRING.",
        "LENGTH counts the characters of a STRING.", f"{_STRINGS}#length", (_M,)),
    DialectReading("lower-of-ascii-only", "LOWER and UPPER change ASCII letters only.",
        "They change alphabetic characters.", f"{_STRINGS}#lower", (_S,)),
    DialectReading("substr-counts-position-zero", "SUBSTR from position 0 gives one character less.",
        "Position 0 is position 1.", f"{_STRINGS}#substr", (_S, _D, _P)),
    DialectReading("concat-skips-null", "CONCAT leaves out arguments that are NULL.",
        "CONCAT is NULL if an argument is NULL.", f"{_STRINGS}#concat", (_D, _P)),
    DialectReading("remainder-of-the-divisor", "MOD has the sign of the divisor.",
        "MOD has the sign of the dividend.", f"{_DOCS}mathematical_functions#mod"),
)
# fmt: on

READINGS: Final[Mapping[str, DialectReading]] = MappingProxyType({reading.name: reading for reading in _ALL})
"""Every wrong reading by its name."""
