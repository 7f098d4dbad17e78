"""The client of a case logs in, keeps its token and its cookies, and shows neither in what is recorded."""

from __future__ import annotations

import base64

import pytest

from conformance.contain.secrets import masked
from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.records import FlightLogin, FlightToken, Handshake, ListFlights
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.table.spec import Login, LoginForm
from conformance.protocols.flight.targets.login import Memory
from conformance.records import Call, MetadataEntry
from conformance.targets.recordedcall import CallBudget
from conformance.targets.targeterrors import TargetUnavailable
from tests.protocols.flight.reference.direct import caller_of, case_of, seen

BUDGET = CallBudget(10.0, 10, 1 << 20)
USER = ("user", "a long password")


def guarded() -> FlightService:
    """A service that needs a login."""
    service = FlightService()
    service.login = USER
    return service


@pytest.mark.parametrize("form", LoginForm)
def test_either_form_gives_a_token_that_the_server_accepts(form: LoginForm) -> None:
    """The reference has both."""
    memory, caller = Memory(Login(*USER, form=form)), caller_of(guarded())

    before = caller.stream(Call(0, "", "ListFlights", b""), budget=BUDGET).status
    memory.log_in(caller, BUDGET)
    after = caller.with_credentials(memory.headers).stream(Call(0, "", "ListFlights", b""), budget=BUDGET).status

    assert (before, after) == ("UNAUTHENTICATED", "OK")


def test_a_login_that_is_refused_is_a_fault_of_the_set_up() -> None:
    """The target file may have the wrong password."""
    memory = Memory(Login("user", "another password"))

    with pytest.raises(TargetUnavailable, match=r"set-up: the Handshake of .* gave no token: UNAUTHENTICATED"):
        memory.log_in(caller_of(guarded()), BUDGET)


def test_a_password_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is not set is said by its name."""
    login = Login("user", password_variable="CONFORMANCE_TEST_PASSWORD")

    with pytest.raises(TargetUnavailable, match="CONFORMANCE_TEST_PASSWORD"):
        Memory(login)
    monkeypatch.setenv("CONFORMANCE_TEST_PASSWORD", "from the environment")
    _, (message,) = Memory(login).opening(FlightLogin.RIGHT)
    assert b"from the environment" in message


def test_a_password_that_cannot_be_masked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value is not said; one that stands in the target file is no secret of the environment."""
    monkeypatch.setenv("CONFORMANCE_TEST_PASSWORD", "seven77")

    with pytest.raises(TargetUnavailable, match=r"CONFORMANCE_TEST_PASSWORD.* at least 8 .*, got 7$"):
        Memory(Login("user", password_variable="CONFORMANCE_TEST_PASSWORD"))
    assert Memory(Login("user", "seven77")).login is not None


def test_a_header_of_the_target_file_is_masked() -> None:
    """If its name is that of a secret."""
    Memory(None, {"x-api-key": "key-of-the-file", "x-color": "green-as-grass"})

    assert masked("key-of-the-file green-as-grass") == "*** green-as-grass"


def test_the_wrong_password_and_the_wrong_token_are_made_up() -> None:
    """The name stays."""
    headers, _ = Memory(Login(*USER, form=LoginForm.HEADER)).opening(FlightLogin.WRONG)
    memory = Memory(Login(*USER))

    said = base64.b64decode(str(headers["authorization"]).removeprefix("Basic ")).decode()
    assert said.startswith("user:")
    assert USER[1] not in said
    assert memory.token(FlightToken.NONE) == memory.token(FlightToken.OWN) == {}
    assert list(memory.token(FlightToken.WRONG)) == ["auth-token-bin"]


def test_a_recorded_handshake_shows_neither_password_nor_token() -> None:
    """Lengths stay, so that the messages can be read."""
    (call,) = seen(case_of(Handshake(login=FlightLogin.RIGHT)), guarded()).flight_calls

    answer = message_of("HandshakeResponse", call.raw.responses[0])
    assert answer is not None
    assert set(bytes(answer.data("payload"))) == {ord("*")}
    assert USER[1].encode() not in call.raw.request


def _logged_in(token: bytes, user: str = "user") -> Memory:
    memory = Memory(Login(user, "a long password"))
    heard = memory.learn(Call(0, "", "Handshake", b"", responses=(part(2, token),)), logged_in=True)
    assert heard.responses == (part(2, b"*" * len(token)),)
    return memory


@pytest.mark.parametrize("token", [b"a-made-up-token-1", b"\xffbinary\x00made-up"])
def test_a_token_is_masked_in_what_comes_after_its_login(token: bytes) -> None:
    """A server may repeat it in any answer, as text, in base64, or as its bytes; so is one that is no text."""
    coded = base64.b64encode(token)
    said = Call(
        1, "", "DoAction", token, responses=(b"no " + token, coded), details=f"no {coded.decode()}",
        trailers=(MetadataEntry("x-echo-bin", token),),
    )  # fmt: skip

    kept = _logged_in(token).without_tokens(said)

    assert not any(form.rstrip(b"=") in repr(kept).encode() for form in (coded, repr(token)[2:-1].encode()))
    assert len(kept.responses[0]) == len(said.responses[0])


@pytest.mark.parametrize(("token", "user"), [(b"somebody-known", "somebody-known"), (b"\x01" + bytes(7), "user")])
def test_what_may_be_in_any_answer_is_left_alone(token: bytes, user: str) -> None:
    """The server of Arrow's integration tests gives out the name of the client; another one may count its tokens."""
    said = Call(1, "", "DoAction", b"", responses=(b"no " + token,))

    assert _logged_in(token, user).without_tokens(said) == said


def test_a_step_about_logins_is_skipped_without_one() -> None:
    """There is nothing to send."""
    steps = Handshake(login=FlightLogin.WRONG), ListFlights(token=FlightToken.NONE), ListFlights()

    assert seen(case_of(*steps)).exchange.skipped_steps == (0, 1)


def test_cookies_are_kept_until_the_server_takes_them_back() -> None:
    """In headers and in trailers; a cookie that cannot be read is left out."""
    memory = Memory()

    def hears(said: bytes) -> str:
        memory.learn(Call(0, "", "DoAction", b"", trailers=(MetadataEntry("set-cookie", said),)))
        return str(memory.headers().get("cookie", ""))

    assert hears(b"one=1; Path=/; HttpOnly") == "one=1"
    assert hears(b"two=2") == "one=1; two=2"
    assert hears(b"\xff[]") == "one=1; two=2"
    assert hears(b"one=; Max-Age=0") == "two=2"


def test_an_empty_payload_is_no_token() -> None:
    """As of a server that lets everybody in."""
    memory = Memory(Login(*USER))

    memory.learn(Call(0, "", "Handshake", b"", responses=(part(2, b""),)), logged_in=True)

    assert memory.headers() == {}
