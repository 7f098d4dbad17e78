"""The reference of the toy protocol, a mutant and a legal variation of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from conformance.reference.freedom import ServiceVariation, registering
from conformance.reference.register import Mutant, decorator
from conformance.reference.simple import SimpleService, simple_reference

_MUTANTS: dict[str, Mutant] = {}
_VARIATIONS: dict[str, ServiceVariation[Echo]] = {}
mutant: Final = decorator(lambda definition: {"service": definition, "protocol": "toy"}, _MUTANTS)
variation: Final = registering(_VARIATIONS)


class Echo(SimpleService):
    """The service."""

    SERVICE = "/toy.Echo/"
    METHODS: ClassVar[dict[str, str]] = {"Say": "say"}

    def say(self, words: bytes) -> Iterator[bytes]:
        """Give the words back."""
        yield words


@mutant("toy.trimmed", kills="toy.words-come-back")
class Trimmed(Echo):
    """Blanks at the end of a text are lost."""

    def say(self, words: bytes) -> Iterator[bytes]:
        """Give the words back without what is at their end."""
        yield words.rstrip()


@variation("toy.copied", "https://www.rfc-editor.org/rfc/rfc862")
class Copied(Echo):
    """The answer is made of single bytes, which no client can see."""

    def say(self, words: bytes) -> Iterator[bytes]:
        """Give a copy of the words."""
        yield b"".join(bytes([one]) for one in words)


PLUGIN: Final = simple_reference("toy", Echo, _MUTANTS, _VARIATIONS)
