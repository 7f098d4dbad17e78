"""The origin of a run: when, from which command and commit, against which target, with which clients.

Only the records and their texts are here; :mod:`conformance.engine.started` collects the values.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.contain.secrets import MASK, NAMED_SECRET, masked_in_addresses
from conformance.contain.text import keep_safe

__all__ = ["UNKNOWN", "UNREAD", "Digests", "Identity", "Provenance", "ReaderVersion", "masked", "remarks"]

UNREAD: Final = "no real client library read the data: the verdicts are those of the bytes alone"
"""The remark of a run without the real clients."""

# The word of `sh -c` is a whole command. Everything behind the name goes, because quotes may hold spaces.
_GIVEN: Final = re.compile(rf"({NAMED_SECRET}[=:]|--?{NAMED_SECRET}\s|\b(?i:bearer)\s).+", re.DOTALL)
_OPTION: Final = re.compile(f"--?{NAMED_SECRET}")


@dataclasses.dataclass(frozen=True, slots=True)
class Digests:
    """SHA-256 digests in hexadecimal of what a run judges with; empty where it is unknown.

    ``clauses`` is that of the id, level, text and source of every clause, ``cases`` that of the corpus, and ``golden``
    that of the golden files.
    """

    clauses: str = ""
    cases: str = ""
    golden: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """A target as it is named: ``command`` is that of its file, or its addresses, without environment or secrets."""

    name: str = ""
    version: str = ""
    kind: str = ""
    command: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keep_safe(self, "name", "version", "kind", "command")


@dataclasses.dataclass(frozen=True, slots=True)
class ReaderVersion:
    """A reader and the version of its package, empty if that is not installed; ``client`` is true for a real client
    library.
    """

    name: str
    package: str
    version: str = ""
    client: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a run; see :data:`UNKNOWN` for a log of an older suite.

    ``began`` is the start of the run in UTC (ISO 8601). ``commit`` is the suite's commit, if it is a checkout or was
    installed from one; ``modified`` is true if its files differ from that commit. ``command`` is the command line.
    """

    began: str = ""
    command: str = ""
    commit: str = ""
    modified: bool = False
    digests: Digests = Digests()
    target: Identity = Identity()
    readers: tuple[ReaderVersion, ...] = ()

    def __post_init__(self) -> None:
        keep_safe(self, "began", "command", "commit")

    @property
    def clients(self) -> tuple[ReaderVersion, ...]:
        """The real client libraries that are installed and read."""
        return tuple(reader for reader in self.readers if reader.client and reader.version)


UNKNOWN: Final = Provenance()
"""The origin of a run that an older suite judged."""


def remarks(provenance: Provenance) -> tuple[str, ...]:
    """The remarks that the origin of a run on a target requires: one if no real client read."""
    return (UNREAD,) if provenance.began and not provenance.clients else ()


def masked(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command without the values of what is named like a secret, and without users in addresses.

    >>> masked(["serve", "--api-key", "abc", "--token=abc", "http://me:abc@host/"])
    ('serve', '--api-key', '***', '--token=***', 'http://***@host/')
    >>> masked(["sh", "-c", "serve --token abc", "-H", "Authorization: Bearer abc"])
    ('sh', '-c', 'serve --token ***', '-H', 'Authorization:***')
    """
    return tuple(_masked(words))


def _masked(words: Sequence[str]) -> Iterator[str]:
    hidden = False
    for word in words:
        yield MASK if hidden else masked_in_addresses(_GIVEN.sub(rf"\1{MASK}", word))
        hidden = _OPTION.fullmatch(word) is not None
