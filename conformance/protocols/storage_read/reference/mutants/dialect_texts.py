"""How other dialects read the text of a restriction: quotes, escapes, comments and names.

Each function gets the pieces of a text (literals, names in backticks, comments, and what is between them) and the
columns, and returns the pieces as BigQuery would have to read them to mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from conformance.protocols.storage_read.reference.sql import SqlError
from conformance.records import Column

__all__ = ["TEXTS", "rewritten"]

Rewrite = Callable[[list[str], Sequence[Column]], list[str]]

_PIECE: Final = re.compile(
    r"""(?:\b[rRbB]{1,2})?(?:'''.*?'''|\"{3}.*?\"{3}|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"""|`[^`]*`|\#[^\n]*|--[^\n]*|/\*.*?\*/|[^'"`\#/\-rRbB]+|.""",
    re.DOTALL,
)
_RESERVED: Final = re.compile(r"(?<![\w.])(?:check|table)\b", re.IGNORECASE)
_MOMENT: Final = re.compile(r"['\"]\d{4}-\d+-\d+[ T][\d:.]+")
_ZONE: Final = re.compile(r"(?<=\d)(?:Z|[+-]\d\d(?::\d\d)?| [A-Z]\w+(?:/\w+)?)(?=['\"]$)")


def rewritten(text: str, reading: str, columns: Sequence[Column]) -> str:
    """The text as the reading takes it.

    Raises:
        SqlError: the reading refuses the text.
    """
    rewrite = TEXTS.get(reading)
    return text if rewrite is None else "".join(rewrite(_PIECE.findall(text), columns))


def _is_literal(piece: str) -> bool:
    return piece[-1] in "'\"" and len(piece) > 1


def _outside(pieces: Sequence[str]) -> str:
    """The text without literals and comments."""
    return "".join(" " if _is_literal(piece) or piece.startswith(("#", "--", "/*")) else piece for piece in pieces)


def _refuse_if(condition: object) -> None:
    if condition:
        raise SqlError("expected the words of another dialect")


def _each(change: Callable[[str], str]) -> Rewrite:
    return lambda pieces, _columns: [change(piece) for piece in pieces]


def _double_quotes(piece: str) -> str:
    if not piece.startswith('"'):
        return piece
    _refuse_if("\\" in piece or "`" in piece)
    name = piece.strip('"')
    return f"`{name}`" if name else piece


def _backslash(piece: str) -> str:
    if not piece.startswith(("'", '"')) or "\\" not in piece:
        return piece
    _refuse_if(f"\\{piece[0]}" in piece)
    return f"r{piece}"


def _hex_escape(piece: str) -> str:
    if not piece.startswith(("'", '"')) or piece.count("\\") != piece.count("\\x"):
        return piece
    return piece.replace("\\x", "x")


def _doubled_quote(piece: str) -> str:
    if not piece.startswith("'''"):
        return piece
    body = piece[3:-3].replace("\n", "\\n")
    return f"\"'{body}'\""


def _no_prefix(piece: str) -> str:
    _refuse_if(_is_literal(piece) and piece[0] in "rRbB")
    return piece


def _no_hash(piece: str) -> str:
    _refuse_if(piece.startswith("#"))
    return piece


def _dashes(piece: str) -> str:
    return f"- -{piece[2:]}" if re.match(r"--\S", piece) else piece


def _executed(piece: str) -> str:
    return f" {piece[3:-2]} " if piece.startswith("/*!") else piece


def _no_backtick(piece: str) -> str:
    _refuse_if(piece.startswith("`"))
    return piece


def _reserved(pieces: list[str], _columns: Sequence[Column]) -> list[str]:
    _refuse_if(_RESERVED.search(_outside([piece for piece in pieces if not piece.startswith("`")])))
    return pieces


def _no_dots(pieces: list[str], _columns: Sequence[Column]) -> list[str]:
    _refuse_if(re.search(r"[A-Za-z_`]\s*\.\s*[A-Za-z_`]", _outside(pieces)))
    return pieces


def _names(columns: Sequence[Column]) -> Iterator[str]:
    for column in columns:
        yield column.name
        yield from _names(column.fields)


def _folded(pieces: list[str], columns: Sequence[Column]) -> list[str]:
    exact = set(_names(columns))
    known = {name.lower() for name in exact}
    for quoted, word in re.findall(r"(`?)([^\W\d]\w*)", _outside(pieces)):
        seen = word if quoted else word.lower()
        _refuse_if(word.lower() in known and seen not in exact)
    return pieces


def _zone_dropped(piece: str) -> str:
    return _ZONE.sub("", piece) if _MOMENT.match(piece) else piece


def _local(pieces: list[str], _columns: Sequence[Column]) -> list[str]:
    made = list(pieces)
    for at, piece in enumerate(pieces):
        around = "".join(pieces[max(at - 12, 0) : at]).upper(), "".join(pieces[at + 1 : at + 5]).upper()
        instant = around[0].rstrip().endswith("TIMESTAMP") or around[1].lstrip().startswith("AS TIMESTAMP")
        if instant and _MOMENT.match(piece) and not _ZONE.search(piece):
            made[at] = f"{piece[:-1]} Asia/Tokyo{piece[-1]}"
    return made


TEXTS: Final[Mapping[str, Rewrite]] = MappingProxyType(
    {
        "double-quotes-are-names": _each(_double_quotes),
        "backslash-is-a-character": _each(_backslash),
        "hex-escape-unknown": _each(_hex_escape),
        "doubled-quote-is-a-quote": _each(_doubled_quote),
        "prefixes-unknown": _each(_no_prefix),
        "hash-is-no-comment": _each(_no_hash),
        "dashes-need-a-blank": _each(_dashes),
        "comment-is-executed": _each(_executed),
        "backticks-unknown": _each(_no_backtick),
        "names-fold-to-lower": _folded,
        "reserved-elsewhere": _reserved,
        "dotted-name-is-a-table": _no_dots,
        "zone-is-dropped": _each(_zone_dropped),
        "local-zone": _local,
    }
)
"""The readings of texts, by the names of :data:`conformance.protocols.storage_read.generate.dialects.READINGS`."""
