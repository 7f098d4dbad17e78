"""Sessions of the reference: options by name, found again by a cookie.

Source: https://github.com/apache/arrow/blob/main/format/Flight.proto, ``SetSessionOptionsRequest`` and the messages
after it.
"""

from __future__ import annotations

import http.cookies
from collections.abc import Callable, Mapping
from typing import Final

from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import number, part, text
from conformance.protocols.flight.reference.actions import Actions
from conformance.protocols.flight.reference.store import Store
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["CLOSE", "GET", "SET", "Sessions"]

SET: Final = "SetSessionOptions"
GET: Final = "GetSessionOptions"
CLOSE: Final = "CloseSession"
COOKIE: Final = "arrow_flight_session_id"
UNFIT: Final = "lol_invalid"
"""The name and the text that the reference does not accept: those of Arrow's integration tests."""
INVALID_NAME, INVALID_VALUE = 1, 2
_CLOSED: Final = 1

Options = dict[str, bytes]
"""The SessionOptionValues of a session by their names."""


class Sessions(Actions):
    """SetSessionOptions, GetSessionOptions and CloseSession."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._sessions: dict[str, Options] = {}

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[[bytes], bytes]]]:
        """The actions by name."""
        return {
            **super().actions,
            SET: ("Set options of the session.", self.set_options),
            GET: ("Get the options of the session.", self.get_options),
            CLOSE: ("Close the session.", self.close_session),
        }

    @property
    def session_id(self) -> str:
        """The id in the cookie of the call; empty without one."""
        try:
            found = http.cookies.SimpleCookie(self.headers.get("cookie", b"").decode("latin-1"))
        except http.cookies.CookieError:
            return ""
        return found[COOKIE].value if COOKIE in found else ""

    def session(self) -> Options:
        """The options of the session of the call."""
        options = self._sessions.get(self.session_id)
        if options is None:
            self.refuse(StatusCode.NOT_FOUND, "there is no such session")
        return options

    def begin(self) -> Options:
        """The options of the session of the call, or of a new one."""
        if self.session_id in self._sessions:
            return self._sessions[self.session_id]
        fresh = self.store.token()
        self.reply.append(("set-cookie", f"{COOKIE}={fresh}"))
        return self._sessions.setdefault(fresh, {})

    def set_options(self, body: bytes) -> bytes:
        """The SetSessionOptionsResult: an error for each option that was not set."""
        asked = self.decode("SetSessionOptionsRequest", body)
        options = self.begin()
        errors: dict[str, int] = {}
        for entry in asked.messages("session_options"):
            value = entry.message("value")
            error = self.error_of(entry.text("key"), value)
            if error:
                errors[entry.text("key")] = error
            elif value is None or not value.fields:
                self.unset(options, entry.text("key"))
            else:
                self.keep_option(options, entry.text("key"), body[value.start : value.end])
        return self.set_result(errors)

    def error_of(self, name: str, value: ProtoMessage | None) -> int:
        """The reason why an option is not set; 0 if it is."""
        if name == UNFIT:
            return INVALID_NAME
        return INVALID_VALUE if value is not None and value.text("string_value") == UNFIT else 0

    def keep_option(self, options: Options, name: str, value: bytes) -> None:
        """Set an option."""
        options[name] = value

    def unset(self, options: Options, name: str) -> None:
        """Take an option away."""
        options.pop(name, None)

    def set_result(self, errors: Mapping[str, int]) -> bytes:
        """The SetSessionOptionsResult with these errors by name."""
        return b"".join(part(1, text(1, name) + part(2, number(1, error))) for name, error in errors.items())

    def get_options(self, body: bytes) -> bytes:
        """The GetSessionOptionsResult."""
        self.decode("GetSessionOptionsRequest", body)
        return self.options_result(self.session())

    def options_result(self, options: Options) -> bytes:
        """The GetSessionOptionsResult with these options."""
        return b"".join(part(1, text(1, name) + part(2, value)) for name, value in options.items())

    def close_session(self, body: bytes) -> bytes:
        """The CloseSessionResult; the session is gone."""
        self.decode("CloseSessionRequest", body)
        self.session()
        self.forget()
        return number(1, _CLOSED)

    def forget(self) -> None:
        """End the session of the call."""
        del self._sessions[self.session_id]
