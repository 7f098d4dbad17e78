"""Foreign text in the forms of output that give some characters a meaning: one function for each form.

HTML is escaped by its templates, XML by its writer, and the terminal is given text without markup.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["in_markdown", "in_sarif"]

_MARKUP: Final = re.compile(r"[^\w\s.,;()/-]|_|(?<=www)\.", re.ASCII | re.IGNORECASE)
_LINK: Final = re.compile(r"[\[\\](?=[^\]]*\]\()|\](?=\()")
_PLACEHOLDER: Final = re.compile(r"\{(\d+)\}")


def in_markdown(text: str) -> str:
    """``text`` as plain text in Markdown: a character reference never begins markup, a link or a cell of a table."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};" if found[0].isascii() else found[0], text)


def in_sarif(text: str) -> str:
    r"""``text`` as the plain text of a SARIF message, in which ``[text](target)`` is a link and ``{0}`` a placeholder.

    SARIF 2.1.0, sections 3.11.5 and 3.11.6. Text without these stays unchanged.

    >>> in_sarif("a [b](http://c) {0} x[1] {name}")
    'a \\[b\\](http://c) {{0}} x[1] {name}'
    """
    return _PLACEHOLDER.sub(r"{{\1}}", _LINK.sub(lambda found: f"\\{found[0]}", text))
