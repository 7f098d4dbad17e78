"""A server is started, driven, replaced where it breaks, and gone afterwards; a defect costs its own case only."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import socket
import time
from collections.abc import Callable
from typing import Any

import grpc
import psutil
import pytest

from conformance.contain.child import Child
from conformance.protocols.storage_read.targets import driver as server
from conformance.protocols.storage_read.targets.driver import NO_REST, ServerTarget
from conformance.records import AppendRows, Call, CallEnd, CreateSession, Exchange, ReadRows
from conformance.targets import TargetSpec, TargetUnavailable, open_target
from conformance.targets.recordedcall import CallBudget, Caller
from conformance.targets.running import PROBE_SECONDS
from conformance.targets.spec import Ready
from tests.patience import LONG, patiently, still_running
from tests.targets.conftest import Write, case_of, table_of
from tests.targets.fake_server import FakeServer

Started = Callable[..., TargetSpec]


def drive(spec: TargetSpec, *cases: Any) -> list[Exchange]:
    """Open the target, drive the cases, close it."""
    with open_target(spec) as target:
        return [target.drive(case, table_of(case)) for case in cases]


def ends(exchange: Exchange) -> list[tuple[str, CallEnd]]:
    """The methods of an exchange and how they ended."""
    return [(call.method, call.end) for call in exchange.calls]


WELL_BEHAVED = [("CreateReadSession", CallEnd.COMPLETE), ("ReadRows", CallEnd.COMPLETE)]


def test_a_case_becomes_an_exchange(endpoint: TargetSpec, fake: FakeServer) -> None:
    """A case is seeded, asked for, and recorded with the names that it was seeded under."""
    exchange = drive(endpoint, case_of())[0]

    assert ends(exchange) == WELL_BEHAVED
    assert (exchange.case_id, exchange.target, exchange.untestable) == ("a-case", "fake", "")
    asked = fake.seen("CreateReadSession")[0].read_session.table
    assert asked == f"projects/{exchange.project}/datasets/{exchange.dataset}/tables/{exchange.table}"
    assert abs(exchange.now - time.time_ns() // 1000) < 60_000_000


def test_tables_of_a_server_that_is_not_ours_are_removed(endpoint: TargetSpec, fake: FakeServer) -> None:
    """A server that outlives the run is left as it was found."""
    drive(endpoint, case_of(), case_of(case_id="b"))

    assert fake.tables == {}


@pytest.mark.parametrize("answers", [False, True])
def test_a_method_that_does_not_exist_is_refused(endpoint: TargetSpec, fake: FakeServer, *, answers: bool) -> None:
    """A server that answers every method shows nothing by an answer, and a remark says so."""
    fake.answers_anything = answers

    with open_target(endpoint) as target:
        remarks = target.remarks

    assert [remark.partition(", it should")[0] for remark in remarks] == [
        "called the made-up method /google.cloud.bigquery.storage.v1.BigQueryRead/MadeUp5f0c2a91"
    ] * answers


@pytest.mark.usefixtures("fake")
def test_the_call_of_a_made_up_method_is_cut_when_its_time_is_up(
    endpoint: TargetSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library misses its deadline while a server sends frames without a pause (``conformance.targets.cutting``)."""
    cut: list[float] = []

    def noted(channel: grpc.Channel, seconds: float) -> contextlib.AbstractContextManager[None]:
        cut.append(seconds)
        return contextlib.nullcontext()

    monkeypatch.setattr(server, "cut_after", noted)

    with open_target(endpoint):
        assert cut == [PROBE_SECONDS]


def test_a_failed_seed_is_untestable(endpoint: TargetSpec, fake: FakeServer) -> None:
    """A table that cannot be seeded is never a read failure: there are no calls, and the reason is kept."""
    fake.rest = lambda method, path, body: (400, {"error": {"message": "no"}}) if path.endswith("/tables") else None

    exchange = drive(endpoint, case_of())[0]

    assert exchange.calls == ()
    assert exchange.untestable.startswith("cannot seed: POST /bigquery/v2/projects/test-project/")
    assert fake.requests == []


def test_seeding_has_the_time_of_its_case(
    endpoint: TargetSpec, fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However soon each request is answered, all of them together end with the case's own deadline."""
    monkeypatch.setattr("conformance.targets.spec.LEAST", 0.0)  # a deadline that has passed when it begins
    spec = dataclasses.replace(endpoint, deadlines=dataclasses.replace(endpoint.deadlines, case=1e-9))

    exchange = drive(spec, case_of())[0]

    assert exchange.untestable == (
        "cannot seed: the time for seeding the case was over before its table was in and verified"
    )
    assert (exchange.calls, fake.tables) == ((), {})


def test_a_probe_that_is_redirected_is_one_sentence(endpoint: TargetSpec, fake: FakeServer) -> None:
    """A server that answers elsewhere is not ready, and the reason is kept."""
    fake.rest = lambda method, path, body: (307, {})
    deadlines = dataclasses.replace(endpoint.deadlines, start=0.2)
    spec = dataclasses.replace(endpoint, deadlines=deadlines, ready=Ready(rest_path="/moved"))

    with pytest.raises(TargetUnavailable, match="GET /moved: HTTP 307, a redirect; the suite follows none"):
        drive(spec, case_of())


def test_a_failed_append_is_untestable(endpoint: TargetSpec, fake: FakeServer) -> None:
    """Rows that cannot be appended make the case untestable as well."""
    done: list[str] = []

    def rest(method: str, path: str, body: Any) -> tuple[int, Any] | None:
        if "insertAll" in path:
            done.append(path)
            return None if len(done) == 1 else (400, {"error": {"message": "full"}})
        return None

    fake.rest = rest

    exchange = drive(endpoint, case_of(CreateSession(), AppendRows(1), ReadRows()))[0]

    assert exchange.calls == ()
    assert "full" in exchange.untestable


def test_a_snapshot_lies_between_seed_and_append(endpoint: TargetSpec, fake: FakeServer) -> None:
    """The instant ``before-append`` is after the seed was verified and before the next insert."""
    times: dict[str, int] = {}

    def rest(method: str, path: str, body: Any) -> tuple[int, Any] | None:
        times[path.rsplit("/", 1)[-1].partition("?")[0]] = time.time_ns() // 1000
        return None

    fake.rest = rest

    drive(endpoint, case_of(AppendRows(1), CreateSession(snapshot="before-append"), ReadRows()))

    session = fake.seen("CreateReadSession")[0].read_session
    snapshot = session.table_modifiers.snapshot_time.ToMicroseconds()
    assert times["data"] + 10_000 < snapshot < times["insertAll"] - 10_000


def test_an_isolated_case_needs_a_server_that_can_be_started(endpoint: TargetSpec) -> None:
    """A server at an endpoint cannot give a case a process of its own."""
    exchange = drive(endpoint, case_of(isolated=True))[0]

    assert exchange.untestable == "the case needs a server process of its own, and this target is one that runs already"


def test_a_dead_endpoint_is_one_sentence(target_file: Write) -> None:
    """Nothing at the address is found out before any case."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    spec = target_file(
        f"""
        name = "x"
        kind = "server"
        [endpoint]
        grpc = "127.0.0.1:{port}"
        rest = "http://127.0.0.1:{port}"
        [deadlines]
        start = 0.2
        """
    )

    with pytest.raises(TargetUnavailable) as raised, open_target(spec):
        pytest.fail("opened")
    assert str(raised.value).endswith(f"cannot reach 127.0.0.1:{port}: nothing listens there (Connection refused)")


def test_a_server_is_started_and_stopped(started: Started) -> None:
    """The process lives as long as the target is open."""
    with open_target(started()) as target:
        assert isinstance(target, ServerTarget)
        assert target._servers.shared is not None
        assert target._servers.shared.process is not None
        process = psutil.Process(target._servers.shared.process.pid)
        exchange = target.drive(case_of(), table_of(case_of()))

    assert ends(exchange) == WELL_BEHAVED
    assert not process.is_running()


def test_a_crash_is_told_with_the_processs_last_words(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies under a call is a crash, with status and output; the next case meets a new process."""
    monkeypatch.setattr("conformance.targets.recordedcall.EXIT_SECONDS", LONG)
    first, second = drive(started("crash"), case_of(), case_of(case_id="b"))

    assert ends(first) == [("CreateReadSession", CallEnd.COMPLETE), ("ReadRows", CallEnd.CRASH)]
    assert first.calls[1].details.startswith("the process exited with status 41; its last output: ")
    assert first.calls[1].details.endswith("fatal: out of cheese")
    assert ends(second) == ends(first)


def test_a_crash_costs_its_own_case_only(started: Started) -> None:
    """Cases before and after the one that kills the server are judged on their own."""
    exchanges = drive(
        started("crash_on_odd_tables"), case_of(case_id="even-1"), case_of(case_id="odd"), case_of(case_id="even-2")
    )

    assert ends(exchanges[0]) == WELL_BEHAVED
    assert ends(exchanges[1]) == [("CreateReadSession", CallEnd.CRASH)]
    assert ends(exchanges[2]) == WELL_BEHAVED


def test_a_hang_costs_its_deadline_and_a_new_process(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hung server is replaced without waiting for its grace."""
    graces: list[float] = []
    stop = Child.stop

    def noted(child: Child, *, grace: float) -> None:
        graces.append(grace)
        stop(child, grace=grace)

    def within(seconds: float) -> tuple[Exchange, bool]:
        graces.clear()
        with open_target(started("hang", grace=30.0, call=seconds)) as target:
            assert isinstance(target, ServerTarget)
            with monkeypatch.context() as patched:
                patched.setattr(Child, "stop", noted)
                return target.drive(case_of(), table_of(case_of())), target._servers.shared is None

    exchange, discarded = patiently(within, lambda made: len(made[0].calls) == 2)

    assert ends(exchange)[-1] == ("ReadRows", CallEnd.DEADLINE)
    assert graces == [0]
    assert discarded


def test_an_endless_stream_ends(started: Started) -> None:
    """A server that streams for ever is stopped at the case's budget."""
    exchange = drive(started("endless", more="case = 20.0"), case_of())[0]

    assert exchange.calls[-1].end in (CallEnd.OVER_BUDGET, CallEnd.DEADLINE)
    assert len(exchange.calls[-1].responses) <= 1007


def test_an_isolated_case_has_a_process_of_its_own(started: Started) -> None:
    """An isolated case has its own server and does not affect the shared one."""
    with open_target(started("crash_on_odd_tables")) as target:
        assert isinstance(target, ServerTarget)
        shared = target._servers.shared
        odd = case_of(case_id="odd", isolated=True)
        exchange = target.drive(odd, table_of(odd))

        assert target._servers.shared is shared
        assert ends(target.drive(case_of(), table_of(case_of()))) == WELL_BEHAVED
    assert exchange.calls[-1].end is CallEnd.CRASH


def test_a_refused_seed_costs_no_restart(started: Started) -> None:
    """A server that answers 500 is still the same server afterwards."""
    with open_target(started("no_rest")) as target:
        assert isinstance(target, ServerTarget)
        before = target._servers.shared
        exchange = target.drive(case_of(), table_of(case_of()))

        assert target._servers.shared is before
    assert exchange.untestable.startswith("cannot seed: POST ")


@pytest.mark.parametrize(
    ("quirk", "deadline", "message"),
    [
        ("die_at_start", LONG, "the process exited with status 3; its last output: cannot load libcheese"),
        (
            "say_nothing",
            1.0,
            "no line with the event 'rest.listen' and a port in the output; the process is still running",
        ),
    ],
)
def test_a_server_that_does_not_start_says_why(started: Started, quirk: str, deadline: float, message: str) -> None:
    """The reason and the last output are in one message, and nothing is left running."""
    spec = started(quirk)
    spec = dataclasses.replace(spec, deadlines=dataclasses.replace(spec.deadlines, start=deadline))

    with pytest.raises(TargetUnavailable) as raised, open_target(spec):
        pytest.fail("opened")
    assert str(raised.value).startswith("fake did not start: ")
    assert message in str(raised.value)


def test_a_stubborn_server_is_killed_with_its_children(started: Started) -> None:
    """Closing ends a server that ignores SIGTERM, and what it started."""
    with open_target(started("stubborn", grace=0.2)) as target:
        assert isinstance(target, ServerTarget)
        assert target._servers.shared is not None
        assert target._servers.shared.process is not None
        child = psutil.Process(target._servers.shared.process.wait_for_port("child", time.monotonic() + LONG) or 0)

    assert still_running([child]) == []


def test_a_port_that_another_process_serves_is_noticed(
    endpoint: TargetSpec, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server reached at the right port but in the wrong process is refused: gRPC shares ports silently."""
    assert endpoint.endpoint is not None
    foreign = iter(int(address.rpartition(":")[2]) for address in (endpoint.endpoint.rest, endpoint.endpoint.grpc))
    monkeypatch.setattr("conformance.targets.starting.free_port", lambda host: next(foreign))
    spec = started("say_nothing")
    spec = dataclasses.replace(spec, ready=dataclasses.replace(spec.ready, grpc_event="", rest_event=""))

    with pytest.raises(TargetUnavailable) as raised, open_target(spec):
        pytest.fail("opened")
    assert str(raised.value).endswith("is served by another process than the one that was started")


def test_ports_can_be_handed_over(started: Started, tmp_path: Any) -> None:
    """Without events, ports are chosen first and the command is given them."""
    server = tmp_path / "serve.py"
    server.write_text(
        "import sys\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from http.server import HTTPServer, BaseHTTPRequestHandler\n"
        "import grpc\n"
        "server = grpc.server(ThreadPoolExecutor(2))\n"
        "assert server.add_insecure_port(f'127.0.0.1:{sys.argv[1]}') == int(sys.argv[1])\n"
        "server.start()\n"
        "class Rest(BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        "        self.send_response(200); self.end_headers()\n"
        "HTTPServer(('127.0.0.1', int(sys.argv[2])), Rest).serve_forever()\n"
    )
    spec = started()
    assert spec.start is not None
    spec = dataclasses.replace(
        spec,
        start=dataclasses.replace(spec.start, command=("{python}", str(server), "{grpc_port}", "{rest_port}")),
        ready=dataclasses.replace(spec.ready, grpc_event="", rest_event=""),
    )

    with open_target(spec) as target:
        exchange = target.drive(case_of(), table_of(case_of()))

    assert exchange.untestable.startswith("cannot seed: ")


def test_a_server_that_does_not_start_again_makes_cases_untestable(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failed restart the remaining cases say so at once, without trying again."""
    with open_target(started("crash")) as target:
        target.drive(case_of(), table_of(case_of()))
        tries: list[int] = []

        def start() -> None:
            tries.append(1)
            raise TargetUnavailable("out of cheese")

        monkeypatch.setattr(target._servers._kept[False], "_start", start)
        later = [target.drive(case_of(), table_of(case_of())).untestable for _ in range(2)]

    assert later == ["the server did not start again: out of cheese"] * 2
    assert tries == [1]


def test_deadlines_are_stretched_by_the_multiplier(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine gets more time for the same file."""
    spec = started("hang", call=0.3)
    budgets: list[CallBudget] = []
    with open_target(spec, multiplier=3.0) as target:
        stream = Caller.stream

        def noted(caller: Caller, call: Call, *, budget: CallBudget, **others: Any) -> Call:
            budgets.append(budget)
            return stream(caller, call, budget=budget, **others)

        with monkeypatch.context() as patched:
            patched.setattr(Caller, "stream", noted)
            call = target.drive(case_of(), table_of(case_of())).calls[-1]

    assert call.end is CallEnd.DEADLINE
    assert [round(budget.seconds / spec.deadlines.call, 1) for budget in budgets] == [3.0]


def test_the_version_is_in_the_file_or_asked_for(started: Started) -> None:
    """A given version is used; otherwise the first line of the version command."""
    spec = started()
    asked = dataclasses.replace(spec, version_command=("{python}", "-c", "print('7.1'); print('more')"))

    with open_target(dataclasses.replace(spec, version="1.2")) as fixed, open_target(asked) as reported:
        assert (fixed.version, reported.version) == ("1.2", "7.1")


def test_a_port_on_which_nothing_listens_is_said_so(started: Started) -> None:
    """A server that serves gRPC and opens no REST port is not taken for one whose port another process has."""
    spec = started("no_rest")
    ready = dataclasses.replace(spec.ready, rest_path="", rest_event="")
    spec = dataclasses.replace(spec, ready=ready, deadlines=dataclasses.replace(spec.deadlines, start=3.0))

    with pytest.raises(TargetUnavailable) as raised, open_target(spec):
        pytest.fail("opened")
    assert re.search(r"nothing listens on port \d+, which the command got as \{rest_port\}", str(raised.value))


def test_without_rest_only_cases_without_a_table_are_put(endpoint: TargetSpec, fake: FakeServer) -> None:
    """All others are untestable, with the key that is missing."""
    assert endpoint.endpoint is not None
    spec = dataclasses.replace(endpoint, endpoint=dataclasses.replace(endpoint.endpoint, rest=""))
    named = CreateSession(table="projects/p/datasets/d/tables/t")

    needing, free = drive(spec, case_of(), case_of(named, case_id="b"))

    assert (needing.calls, needing.untestable) == (
        (),
        NO_REST,
    )
    assert (free.untestable, [call.method for call in free.calls]) == ("", ["CreateReadSession"])
