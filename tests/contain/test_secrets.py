"""A secret is in no text and no bytes, in whatever form a server repeats it."""

from __future__ import annotations

import base64
import html
import json
import urllib.parse

import pytest

from conformance.contain import secrets
from conformance.contain.text import LIMIT, safe, safe_lines

SECRET = "a/secret+that nobody=has"  # made up


@pytest.fixture(autouse=True)
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """One secret, for one test."""
    monkeypatch.setattr(secrets, "_hidden", ())
    monkeypatch.setattr(secrets, "_hidden_bytes", ())
    secrets.hide(SECRET)


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        urllib.parse.quote(SECRET),
        urllib.parse.quote(SECRET, safe=""),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        "".join(f"%{byte:02x}" for byte in SECRET.encode()),
        json.dumps(SECRET)[1:-1].replace("/", "\\/"),
        html.escape(SECRET),
        "".join(f"&#x{byte:02x};" for byte in SECRET.encode()),
        "".join(f"&#{byte};" for byte in SECRET.encode()),
        "".join(f"\\u00{byte:02X}" for byte in SECRET.encode()),
        "".join(f"\\x{byte:02x}" for byte in SECRET.encode()),
        SECRET.encode().hex(":"),
        SECRET.encode().hex(" ").upper(),
        "\0".join(SECRET),
    ],
)
def test_every_form_is_masked(form: str) -> None:
    """As it is, quoted for an address, a page or JSON, in base64, in hexadecimal digits; in texts and in bytes, whose
    length stays.
    """
    text = secrets.masked(f"before {form} after")
    data = secrets.masked_bytes(f"before {form} after".encode())

    assert text.startswith("before ***")
    assert SECRET not in text
    assert (len(data), form.rstrip("=").encode() in data) == (len(f"before {form} after"), False)


@pytest.mark.parametrize("before", ["Bearer ", "me:", "a", ""])
def test_a_header_in_base64_shows_nothing_of_the_secret_in_it(before: str) -> None:
    """Its base64 is another one by the number of bytes in front of it."""
    whole = base64.b64encode(f"{before}{SECRET} and more".encode()).decode()

    first, mask, last = secrets.masked(whole).partition("***")

    assert mask
    assert SECRET[:2].encode() not in base64.b64decode(first + "A" * (-len(first) % 4))
    assert len(last) <= len(base64.b64encode(b"t and more"))


def test_text_is_masked_before_it_is_cut() -> None:
    """The beginning of a secret at the end of a cut text would be shown otherwise."""
    assert "a/secret" not in safe("x" * (LIMIT - 10) + SECRET)
    assert safe_lines(f"Traceback:\n  {SECRET}") == "Traceback:\n  ***"
    assert safe(safe(SECRET)) == safe(SECRET) == "***"


def test_a_secret_within_another_one_leaves_nothing_of_it() -> None:
    """The longer one is masked first."""
    secrets.hide(f"{SECRET}-and-more")

    assert secrets.masked(f"{SECRET}-and-more") == "***"


def test_a_secret_that_is_no_text_is_masked() -> None:
    """A variable of the environment may hold any bytes."""
    secrets.hide(b"geheim\xff\xfe".decode(errors="surrogateescape"))

    assert secrets.masked_bytes(b"not geheim\xff\xfe, nor geheim%FF%FE") == b"not ********, nor ************"


def test_short_texts_are_no_secrets() -> None:
    """They would be found in harmless text."""
    secrets.hide("int64")

    assert secrets.masked("types.int64") == "types.int64"


@pytest.mark.parametrize(
    "word", ["ya29.a0AfH6", "A" * 17, "550e8400-e29b", "CamelCase", "http://me:pw@host/a1b2", "geheim1ä"]
)
def test_what_may_be_a_secret_is_masked_before_anybody_names_it(word: str) -> None:
    """Parts of letters and digits, of letters of both cases, or longer than words."""
    assert secrets.masked_unknown(f"not {word} here") == "not *** here"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_secret_in_wide_characters_is_masked(encoding: str) -> None:
    """As programs of Windows print it: each letter is a part of its own then."""
    printed = "bad ya29.a0AfH6 here".encode(encoding).decode(errors="surrogateescape")

    said = secrets.masked_unknown(printed)
    assert "a0AfH6" not in said.replace("\0", "")
    assert said.endswith(" *** here")


@pytest.mark.parametrize(
    "word", ["y-a-2-9-a-0-b-c", "ya29\u200b.a0AfH6", "\x1b[1mya29.a0AfH6\x1b[0m", "y.a.9.x.f.h.q.z"]
)
def test_a_secret_in_pieces_is_masked(word: str) -> None:
    """Whatever stands between its letters."""
    assert secrets.masked_unknown(f"not {word} here") == "not *** here"


@pytest.mark.parametrize(
    "text",
    ["see /etc/a/credentials.json", "HTTP 403 PERMISSION_DENIED", "Größenfehler: ab1", "您没有访问此数据集的权限"],
)
def test_words_are_no_secrets(text: str) -> None:
    """Nor are names of files and statuses, or what is too short to be one."""
    assert secrets.masked_unknown(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:pw@host:1/a", "http://***@host:1/a"),
        ("http://me:p@w@host", "http://***@host"),
        ("got 'me:pw@[::1]:1'", "got '***@[::1]:1'"),
        ("--upstream=me:p/w@host:1", "--upstream=***@host:1"),
        ("grpc://host:1?token=abc: expected", "grpc://host:1?token=***: expected"),
        ("'http://host/?a=b&x-api-key=abc'", "'http://host/?a=b&x-api-key=***'"),
        ("types.int64@avro: me@example.org", "types.int64@avro: me@example.org"),
        ("grpc://host:1?rest=http://host:2", "grpc://host:1?rest=http://host:2"),
    ],
)
def test_an_error_quotes_an_address_without_its_password(text: str, shown: str) -> None:
    """The user in front of a host is masked, and so is a value of a query that is named like a secret."""
    assert secrets.masked_in_addresses(text) == shown
    assert secrets.masked_in_addresses(shown) == shown
