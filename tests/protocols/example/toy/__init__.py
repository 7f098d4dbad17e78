"""A toy protocol: a server that gives back the words that it gets. ``docs/dev/protocols.md`` explains it."""

from typing import Final

TITLE: Final = "Toy"
SOURCE: Final = "https://www.rfc-editor.org/rfc/rfc862"
