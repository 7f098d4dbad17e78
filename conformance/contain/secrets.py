"""The secrets of this process, masked by value in every text and in all received bytes.

A server, or a library that quotes a request, may send a token back: in a status message, a trailer, an error body. The
texts of records pass through :func:`conformance.contain.text.safe`, and received bytes through the client that received
them; both call this module before they cut, parse or store anything.
"""

from __future__ import annotations

import base64
import html
import json
import re
import threading
import unicodedata
import urllib.parse
from collections.abc import Callable, Iterable
from typing import Final

__all__ = [
    "MASK",
    "NAMED_SECRET",
    "SHORTEST",
    "forms_of",
    "hide",
    "longest_first",
    "masked",
    "masked_bytes",
    "masked_in_addresses",
    "masked_unknown",
]

MASK: Final = "***"
SHORTEST: Final = 8
"""The shortest secret in characters: to mask a shorter one by its value would mask harmless text as well."""

NAMED_SECRET: Final = (
    r"(?i:[\w.-]*(?:token|secret|passw|pwd|credential|authorization|(?:api|access|private)[-_]?key)[\w.-]*)"  # noqa: S105  # a pattern of names
)
"""A name whose value is likely a secret, as a regular expression."""
_USER: Final = re.compile(r"(//)[^/\s]*@|(?<![^\s'\"(=,])[^\s/:@'\"(=,]*:(?!//)[^\s@]*@(?=[\w\[])")
"""A user in an address, with a scheme or, with a password, without one."""
_QUERY: Final = re.compile(rf"([?&]{NAMED_SECRET}=)[^&#\s'\"]*[^&#\s'\":,]")
_WORD: Final = re.compile(rf"\S{{{SHORTEST},}}")
"""Text that is long enough for a secret."""
_JOINTS: Final = re.compile(r"[\W_]+")
LONGEST_WORD: Final = 16
"""The most letters in a row that are taken for a word, not for a secret."""
LONGEST_NUMBER: Final = 3
"""The most digits in a row that are taken for a number, such as a status."""

_UNSEEN: Final = ("Cc", "Cf")

_lock: Final = threading.Lock()
_hidden: tuple[str, ...] = ()
_hidden_bytes: tuple[bytes, ...] = ()


def hide(secret: str) -> None:
    """Mask ``secret`` from now on in all its :func:`forms <forms_of>`; too short texts are left alone."""
    global _hidden, _hidden_bytes  # noqa: PLW0603  # the one list of the process
    if len(secret) < SHORTEST or secret in _hidden:
        return
    with _lock:
        _hidden = longest_first({*_hidden, *forms_of(secret)})
        _hidden_bytes = tuple(_bytes(form) for form in _hidden)


_BETWEEN: Final = (":", " ", "-", ", ")
"""What stands between two bytes in hexadecimal digits."""
_AROUND: Final = (("%", ""), ("\\x", ""), ("\\u00", ""), ("&#x", ";"))
"""What stands around each byte in a URL, in programs, in JSON and in HTML; the last two are of ASCII alone."""


def forms_of(secret: str) -> set[str]:
    """The forms in which ``secret`` may come back: as it is, in base64, in hexadecimal digits, quoted for a URL, for a
    page or for JSON, and as text of two bytes a character.

    A text with the secret in it, such as a whole header, has another base64 of it by the place at which it begins.
    """
    data = _bytes(secret)
    forms = {secret, urllib.parse.quote(data), urllib.parse.quote(data, safe="")}
    quoted = json.dumps(secret)[1:-1]
    forms |= {
        quoted,
        quoted.replace("/", "\\/"),
        html.escape(secret),
        html.escape(secret, quote=False),
        "\0".join(secret),
    }
    forms.add("".join(f"&#{ord(letter)};" for letter in secret))
    for digits in (data.hex(), data.hex().upper()):
        pairs = [digits[at : at + 2] for at in range(0, len(digits), 2)]
        forms |= {digits, *(separator.join(pairs) for separator in _BETWEEN)}
        forms |= {"".join(f"{before}{pair}{after}" for pair in pairs) for before, after in _AROUND}
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        forms |= {encode(data).decode().rstrip("="), *(_within(encode, data, before) for before in range(3))}
    return forms


def _bytes(text: str) -> bytes:
    """UTF-8; a byte of a variable or a file name that was no UTF-8 is as it was."""
    return text.encode(errors="surrogateescape")


def _within(encode: Callable[[bytes], bytes], data: bytes, before: int) -> str:
    """The characters of base64 that ``data`` alone decides where ``before`` bytes are in front of it."""
    encoded = encode(bytes(before) + data).decode()
    return encoded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]


def longest_first(forms: Iterable[str]) -> tuple[str, ...]:
    """``forms`` in the order in which they are masked: one secret may be a part of another one."""
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def masked(text: str, more: Iterable[str] = ()) -> str:
    """``text`` with :data:`MASK` in place of each secret, and of each of ``more``."""
    for secret in (*_hidden, *more):
        if secret in text:
            text = text.replace(secret, MASK)
    return text


def masked_bytes(data: bytes, more: Iterable[str] = ()) -> bytes:
    """``data`` with asterisks in place of each secret, and of each of ``more``; lengths stay, so that the messages
    around it can be read.
    """
    for secret in (*_hidden_bytes, *(_bytes(form) for form in more)):
        if secret in data:
            data = data.replace(secret, b"*" * len(secret))
    return data


def masked_in_addresses(text: str) -> str:
    """``text`` with :data:`MASK` in place of each user in an address, and of each value of its query that is named like
    a secret: what an error says that quotes a wrong address.

    >>> masked_in_addresses("'me:abc@host:80' is not http://me:abc@host:80/?token=abc&rest=host")
    "'***@host:80' is not http://***@host:80/?token=***&rest=host"
    """
    return _QUERY.sub(rf"\1{MASK}", _USER.sub(lambda found: f"{found[1] or ''}{MASK}@", text))


def masked_unknown(text: str) -> str:
    """``text`` with :data:`MASK` in place of everything that may be a secret, which nobody has named yet: what a
    command that was to print a secret says instead.

    >>> masked_unknown("HTTP 403 PERMISSION_DENIED: log in with gcloud auth application-default login")
    'HTTP 403 PERMISSION_DENIED: log in with gcloud auth application-default login'
    >>> masked_unknown("got ya29.a0AfH6SMBx-_Q, which /etc/credentials.json refuses")
    'got *** which /etc/credentials.json refuses'

    Controls and invisible characters are left out before: between its letters, as in UTF-16, they hide a secret.
    """
    shown = "".join(letter for letter in text if letter.isspace() or unicodedata.category(letter) not in _UNSEEN)
    return _WORD.sub(lambda found: found[0] if _is_harmless(found[0]) else MASK, masked(shown))


def _is_harmless(word: str) -> bool:
    parts = _JOINTS.split(word)
    return all(map(_is_plain, parts)) and sum(len(part) == 1 for part in parts) < SHORTEST


def _is_plain(part: str) -> bool:
    if part.isdecimal():
        return len(part) <= LONGEST_NUMBER
    return not part or (len(part) <= LONGEST_WORD and part.isalpha() and part in _cases(part))


def _cases(word: str) -> tuple[str, str, str]:
    return word.lower(), word.upper(), word.capitalize()
