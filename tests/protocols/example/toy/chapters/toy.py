"""What a server says to what it gets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.protocols.toy.records import Say

from conformance.contract.clause import Violation, clause
from conformance.contract.view import CallView, View


def _answers(view: View) -> Sequence[CallView]:
    """The calls of steps that were answered with OK."""
    return [call for call in view.calls if isinstance(call.step, Say) and call.ok]


@clause("toy.words-come-back", over=_answers, source="https://www.rfc-editor.org/rfc/rfc862", profiles=("toy",))
def _words_come_back(call: CallView) -> Iterator[Violation]:
    """The server MUST give back what it got, in one message.

    RFC 862: "An echo service simply sends back to the originating source any data it receives."
    """
    wanted, got = call.raw.request, call.raw.responses
    if got != (wanted,):
        yield Violation(f"one message with {wanted!r}", ", ".join(map(repr, got)) or "no message")
