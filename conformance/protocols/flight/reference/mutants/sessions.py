"""Mutants of sessions."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.protocols.flight.contract.encoding import number, part, text
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.sessions import Options
from conformance.wire.protobufmessages import ProtoMessage

_READ_BACK = "flight-session.set-is-read-back"
_VALUE = "flight-session.value-is-kept"


@mutant("flight-session.forgets", kills=_READ_BACK)
class SessionForgets(FlightService):
    """An option is accepted and not kept."""

    def keep_option(self, options: Options, name: str, value: bytes) -> None:
        return


@mutant("flight-session.one-option", kills=_READ_BACK)
class OneOption(FlightService):
    """A request sets the last of its options alone."""

    def keep_option(self, options: Options, name: str, value: bytes) -> None:
        options.clear()
        super().keep_option(options, name, value)


@mutant("flight-session.false-is-lost", kills=_READ_BACK)
class FalseIsLost(FlightService):
    """An option whose value is false counts as one without a value."""

    def keep_option(self, options: Options, name: str, value: bytes) -> None:
        if value != number(2, 0):
            super().keep_option(options, name, value)


@mutant("flight-session.first-value-stays", kills=_VALUE)
class FirstValueStays(FlightService):
    """An option keeps its first value when it is set again."""

    def keep_option(self, options: Options, name: str, value: bytes) -> None:
        options.setdefault(name, value)


@mutant("flight-session.numbers-are-texts", kills=_VALUE)
class NumbersAreTexts(FlightService):
    """A number comes back as a text."""

    def options_result(self, options: Options) -> bytes:
        changed = {name: text(1, "0") if value[:1] == b"\x19" else value for name, value in options.items()}
        return super().options_result(changed)


@mutant("flight-session.list-without-empty-texts", kills=_VALUE)
class ListWithoutEmptyTexts(FlightService):
    """Empty texts of a list are left out."""

    def keep_option(self, options: Options, name: str, value: bytes) -> None:
        super().keep_option(options, name, value.replace(part(1, b""), b"").replace(b"\x2a\x0e", b"\x2a\x0c"))


@mutant("flight-session.refused-is-set", kills="flight-session.refused-is-not-set", also={_VALUE: "it has that value"})
class RefusedIsSet(FlightService):
    """An option is set although its error says that it is not."""

    def set_options(self, body: bytes) -> bytes:
        for entry in self.decode("SetSessionOptionsRequest", body).messages("session_options"):
            value = entry.message("value")
            if value is not None and self.error_of(entry.text("key"), value):
                self.begin()[entry.text("key")] = body[value.start : value.end]
        return super().set_options(body)


@mutant("flight-session.cannot-be-cleared", kills="flight-session.cleared-is-gone")
class CannotBeCleared(FlightService):
    """An option that is set to no value keeps the one that it had."""

    def unset(self, options: Options, name: str) -> None:
        return


@mutant("flight-session.cleared-is-empty", kills="flight-session.options-have-values")
class ClearedIsEmpty(FlightService):
    """An option that was cleared is given without a value."""

    def unset(self, options: Options, name: str) -> None:
        options[name] = b""


@mutant("flight-session.error-of-another-name", kills="flight-session.errors-are-of-the-request")
class ErrorOfAnotherName(FlightService):
    """The result has an error for an option that nobody set."""

    def set_result(self, errors: Mapping[str, int]) -> bytes:
        return super().set_result({**errors, "another": 1})


@mutant("flight-session.error-unspecified", kills="flight-session.errors-say-why")
class ErrorUnspecified(FlightService):
    """Each error is UNSPECIFIED."""

    def set_result(self, errors: Mapping[str, int]) -> bytes:
        return super().set_result(dict.fromkeys(errors, 0))


@mutant("flight-session.error-of-no-number", kills="flight-session.errors-say-why")
class ErrorOfNoNumber(FlightService):
    """Each error has a number that Flight does not define."""

    def error_of(self, name: str, value: ProtoMessage | None) -> int:
        return 17 if super().error_of(name, value) else 0


@mutant("flight-session.close-unspecified", kills="flight-session.close-says-what-happened")
class CloseUnspecified(FlightService):
    """CloseSession answers with the status UNSPECIFIED."""

    def close_session(self, body: bytes) -> bytes:
        super().close_session(body)
        return b""


@mutant("flight-session.stays-open", kills="flight-session.closed-is-gone")
class StaysOpen(FlightService):
    """CloseSession answers CLOSED, and the session is as it was."""

    def forget(self) -> None:
        return


@mutant("flight-session.one-for-all", kills="flight-session.needs-a-session")
class OneForAll(FlightService):
    """A client without a session reads the options of another one."""

    def session(self) -> Options:
        others = list(self._sessions.values())
        return self._sessions.get(self.session_id) or (others[-1] if others else {"zone": text(1, "UTC")})

    def forget(self) -> None:
        self._sessions.pop(self.session_id, None)


@mutant("flight-session.text-is-not-utf-8", kills="flight-actions.results-decode")
class TextIsNotUtf8(FlightService):
    """A text comes back in another encoding than UTF-8."""

    def options_result(self, options: Options) -> bytes:
        return b"".join(part(1, text(1, name) + part(2, part(1, b"a \xfc b"))) for name in options)


@mutant("flight-session.result-in-words", kills="flight-actions.results-decode")
class ResultInWords(FlightService):
    """SetSessionOptions answers with a text in the place of a result."""

    def set_result(self, errors: Mapping[str, int]) -> bytes:
        return b"done"
