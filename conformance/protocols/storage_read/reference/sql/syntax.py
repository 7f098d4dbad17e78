"""Text to syntax tree: sqlglot parses, this module makes sure that it was BigQuery SQL and nothing but one expression.

sqlglot accepts many dialects leniently; the reference of a judge must not. So the tokens are checked and re-labelled
first: only the words of the grammar keep their meaning (a column may be called ``update``), only BigQuery's operators
pass, and string literals are decoded here, by BigQuery's own rules, and travel as numbered placeholders. Source:
"Lexical structure and syntax" of the BigQuery SQL reference
(https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical).
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]  # imported there without being named

from conformance.protocols.storage_read.reference.sql.values import SqlError

__all__ = ["RESERVED", "TYPE_NAMES", "Expression", "Source", "parse_expression", "parse_tokens", "tokenize"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TYPE_NAMES: Final = _words(
    "INT64 FLOAT64 BOOL STRING BYTES DATE DATETIME TIME TIMESTAMP NUMERIC BIGNUMERIC DECIMAL BIGDECIMAL INTEGER"
)

_GRAMMAR: Final = _words("AND OR NOT IN IS NULL LIKE BETWEEN TRUE FALSE CASE WHEN THEN ELSE END UNNEST AS")
"""Words that keep their meaning in every position; each is reserved in BigQuery."""

RESERVED: Final = _words(
    """ALL AND ANY ARRAY AS ASC ASSERT_ROWS_MODIFIED AT BETWEEN BY CASE CAST COLLATE CONTAINS CREATE CROSS CUBE CURRENT
    DEFAULT DEFINE DESC DISTINCT ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS EXTRACT FALSE FETCH FOLLOWING FOR FROM FULL
    GROUP GROUPING GROUPS HASH HAVING IF IGNORE IN INNER INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT LOOKUP
    MERGE NATURAL NEW NO NOT NULL NULLS OF ON OR ORDER OUTER OVER PARTITION PRECEDING PROTO QUALIFY RANGE RECURSIVE
    RESPECT RIGHT ROLLUP ROWS SELECT SET SOME STRUCT TABLESAMPLE THEN TO TREAT TRUE UNBOUNDED UNION UNNEST USING WHEN
    WHERE WINDOW WITH WITHIN"""
)
"""Reserved words: none of them is a name without backticks."""

_OPERATORS: Final = _words("= != <> < <= > >= + - * / || ( ) , . [ ]")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_NUMBER: Final = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|0[xX][0-9a-fA-F]+")
_HEX_DIGITS: Final = 16
_STRING: Final = re.compile(r"""(?P<prefix>[rRbB]{0,2})(?P<quote>'{3}|"{3}|'|")(?P<body>.*)(?P=quote)""", re.DOTALL)
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<octal>[0-3][0-7]{2})|[xX](?P<hex>[0-9a-fA-F]{2})|u(?P<u4>[0-9a-fA-F]{4})|U(?P<u8>[0-9a-fA-F]{8})"
    r"|(?P<simple>.))",
    re.DOTALL,
)
_SIMPLE: Final = {
    **dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)),
    **{character: character for character in "\\?\"'`"},
}


_Dialect: Any = BigQuery


class _Parser(_Dialect.Parser):  # type: ignore[misc]  # a nested class that sqlglot makes at run time
    """Every call is a call by its spelled name: sqlglot's own functions answer to names of other dialects too."""

    FUNCTIONS: Mapping[str, Any] = {}
    NO_PAREN_FUNCTIONS: Mapping[Any, Any] = {}
    FUNCTION_PARSERS: Mapping[str, Any] = {
        name: parse for name, parse in _Dialect.Parser.FUNCTION_PARSERS.items() if name in ("CAST", "SAFE_CAST")
    }


@dataclasses.dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression: sqlglot's tree, and the string and bytes literals that its placeholders stand for."""

    tree: exp.Expression
    literals: Mapping[str, str | bytes]


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """A token with the text that it was written as."""

    token: Token
    text: str


@functools.lru_cache(maxsize=256)
def parse_expression(text: str) -> Expression:
    """The one expression that the text is.

    Raises:
        SqlError: it is no BigQuery expression, or more than one.
    """
    return parse_tokens(tokenize(text))


def tokenize(text: str) -> list[Source]:
    """The tokens of a text, comments left out.

    Raises:
        SqlError: a literal or comment has no end.
    """
    # A leading parenthesis keeps the tokenizer from taking a first word for a command that swallows the rest.
    try:
        tokens = BigQuery().tokenize(f"({text}")[1:]
    except SqlglotError as error:
        raise SqlError(str(error)) from None
    sources: list[Source] = []
    for token in tokens:
        written = text[token.start - 1 : token.end]
        if sources and sources[-1].text.lower() in ("rb", "br") and sources[-1].token.end + 1 == token.start:
            # sqlglot knows the prefixes r and b, and takes both together for a name.
            written = sources.pop().text + written
        sources.append(Source(token, written))
    return sources


def parse_tokens(sources: Sequence[Source]) -> Expression:
    """The one expression that the tokens are.

    Raises:
        SqlError: as for :func:`parse_expression`.
    """
    if not sources:
        raise SqlError("expected an expression, got nothing")
    literals: dict[str, str | bytes] = {}
    tokens = []
    for index, source in enumerate(sources):
        before = sources[index - 1].text.upper() if index else ""
        after = sources[index + 1].text if index + 1 < len(sources) else ""
        tokens.append(_label(source, before, after, literals))
    parser = _Parser(dialect=BigQuery(), error_level=ErrorLevel.RAISE)
    try:
        trees = parser.parse_into(exp.Condition, tokens)
    except RecursionError:
        raise
    except Exception as error:  # noqa: BLE001  # sqlglot trips over some malformed texts with errors of other kinds
        raise SqlError(f"{type(error).__name__}: {error}") from None
    if len(trees) != 1 or trees[0] is None:
        raise SqlError("expected one expression")
    return Expression(trees[0], literals)


def _label(source: Source, before: str, after: str, literals: dict[str, str | bytes]) -> Token:
    """The token as the grammar may see it."""
    text, token = source.text, source.token
    if literal := _STRING.fullmatch(text):
        if _STRING.fullmatch(before):
            raise SqlError(f"expected an operator between two literals, got {text}")
        key = str(len(literals))
        literals[key] = _decode(literal)
        return _token(TokenType.STRING, key)
    if text.startswith("`"):
        return _token(TokenType.IDENTIFIER, token.text)
    if _NUMBER.fullmatch(text):
        if text[:2].lower() != "0x":
            return _token(TokenType.NUMBER, text)
        if len(digits := text[2:].lstrip("0")) > _HEX_DIGITS:
            raise SqlError(f"expected an INT64 literal, got {text}")
        return _token(TokenType.NUMBER, str(int(digits or "0", 16)))
    if _WORD.fullmatch(text):
        return _label_word(token, before, after)
    if text not in _OPERATORS:
        raise SqlError(f"expected an operator of BigQuery, got {text!r}")
    if text == "," and after in (")", "]", ""):
        raise SqlError("expected an expression after the comma")
    return _token(token.token_type, text)


def _label_word(token: Token, before: str, after: str) -> Token:
    word = token.text.upper()
    is_field = before == "."
    is_type = word in TYPE_NAMES and (before == "AS" or _STRING.fullmatch(after) is not None)
    if not is_field and (word in _GRAMMAR or is_type):
        return _token(token.token_type, token.text)
    if not is_field and word in RESERVED and after != "(":
        raise SqlError(f"expected a name, got the reserved word {token.text}; put it in backticks")
    return _token(TokenType.VAR, token.text)


def _token(kind: TokenType, text: str) -> Token:
    return Token(kind, text)


def _decode(literal: re.Match[str]) -> str | bytes:
    """The value of a string or bytes literal."""
    prefix, body = literal["prefix"].lower(), literal["body"]
    if len(set(prefix)) < len(prefix):
        raise SqlError(f"expected a literal prefix out of r, b, rb, br; got {prefix}")
    if len(literal["quote"]) == 1 and "\n" in body:
        raise SqlError("expected a literal on one line; a triple-quoted one may have several")
    is_bytes = "b" in prefix
    if "r" in prefix:
        return body.encode() if is_bytes else body
    if is_bytes:
        return b"".join(_unescape_bytes(body))
    return _ESCAPE.sub(_unescape, body)


def _unescape(match: re.Match[str]) -> str:
    if match["octal"]:
        return chr(int(match["octal"], 8))
    for group in ("hex", "u4", "u8"):
        if match[group]:
            return _character(int(match[group], 16))
    try:
        return _SIMPLE[match["simple"]]
    except KeyError:
        raise SqlError(f"expected an escape sequence, got \\{match['simple']}") from None


def _character(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        raise SqlError(f"expected a Unicode scalar value, got U+{code:X}")
    return chr(code)


def _unescape_bytes(body: str) -> list[bytes]:
    parts, done = [], 0
    for match in _ESCAPE.finditer(body):
        if match["u4"] or match["u8"]:
            raise SqlError("expected no Unicode escape in a bytes literal")
        parts.append(body[done : match.start()].encode())
        code = ord(_unescape(match))
        parts.append(bytes([code]) if match["octal"] or match["hex"] else chr(code).encode())
        done = match.end()
    return [*parts, body[done:].encode()]
