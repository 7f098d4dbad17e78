"""The replay server as clients see it: listeners, faults, the log, and the control API."""

from __future__ import annotations

import asyncio
import http.client as http_client
import json
import shutil
import ssl
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from conformance.contract import proto
from conformance.records import Call, FaultKind, PlannedFault, to_json
from conformance.replay.loading import held
from conformance.replay.server import Replay
from tests.readers.recorded import SCHEMA, TABLE, bytes_of, case, create, of_calls, read, stream
from tests.replay.asking import RESPONSES, at_once, http, recorded, rows, session

ALONE = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture
def server() -> Iterator[Replay]:
    """A server in plain text with one recording."""
    with Replay(tls=False, clock=at_once) as one:
        one.shelf.put(recorded())
        yield one


@pytest.fixture
def channel(server: Replay) -> Iterator[grpc.Channel]:
    """A channel to it."""
    with grpc.insecure_channel(f"127.0.0.1:{server.addresses['grpc']}", options=ALONE) as one:
        yield one


@pytest.fixture(scope="module")
def secure() -> Iterator[Replay]:
    """A server with TLS."""
    with Replay(clock=at_once) as one:
        one.shelf.put(recorded())
        yield one


def test_a_session_is_read_from_any_place_between_responses(channel: grpc.Channel) -> None:
    """The whole, a part, the end; a place inside a response is refused with what was asked."""
    name = session(channel, TABLE).streams[0].name

    assert rows(channel, name) == ([2, 1, 3], "OK")
    assert rows(channel, name, 3) == ([3], "OK")
    assert rows(channel, name, 6) == ([], "OK")
    assert rows(channel, name, 1) == ([], "FAILED_PRECONDITION")


@pytest.mark.parametrize("kind", [FaultKind.STATUS, FaultKind.RESET])
@pytest.mark.parametrize("responses", [0, 1, 3])
def test_a_fault_ends_the_call_that_its_plan_says(
    server: Replay, channel: grpc.Channel, kind: FaultKind, responses: int
) -> None:
    """The client gets so many responses and no more; the call that resumes is answered.

    After a reset the client's system may drop responses that the client has not read yet.
    """
    server.shelf.plan("case", (PlannedFault(kind, responses=responses),))

    first = rows(channel, stream())
    with grpc.insecure_channel(f"127.0.0.1:{server.addresses['grpc']}", options=ALONE) as new:
        again = rows(new, stream(), sum(first[0]))

    read = len(first[0])
    assert read == responses or (kind is FaultKind.RESET and read < responses)
    assert first[0] == [2, 1, 3][:read]
    assert first[1] in ("UNAVAILABLE", "UNKNOWN")
    assert again == ([2, 1, 3][read:], "OK")


def test_each_recording_counts_the_calls_of_its_own_plan(server: Replay, channel: grpc.Channel) -> None:
    """Another recording under another table has its own plan and its own streams."""
    body: dict[str, object] = {
        "case": to_json(case()),
        "exchange": to_json(exchange()),
        "name": "b",
        "table": "projects/p/datasets/d/tables/b",
    }
    body |= {"faults": [{"kind": "status", "responses": 1, "code": "ABORTED"}]}

    status, made = http(server, "POST", "/replay/exchanges", body)
    other = session(channel, "projects/p/datasets/d/tables/b").streams[0].name

    assert (status, made["exchanges"][0]["name"]) == (200, "b")
    assert other != stream()
    assert rows(channel, stream()) == ([2, 1, 3], "OK")
    assert rows(channel, other) == ([2], "ABORTED")
    assert rows(channel, other, 2) == ([1, 3], "OK")


def exchange() -> object:
    """The exchange of the recording."""
    return of_calls(create(bytes_of(SCHEMA), [stream()]), read(stream(), RESPONSES))


def test_a_plan_over_http_begins_anew(server: Replay, channel: grpc.Channel) -> None:
    """The first call after a new plan is call 0 again; a recording that is dropped is not served."""
    rows(channel, stream())
    plan = {"faults": [{"kind": "status", "code": "ABORTED"}]}

    assert http(server, "POST", "/replay/exchanges/case/faults", plan)[0] == 200
    assert rows(channel, stream()) == ([], "ABORTED")
    assert http(server, "DELETE", "/replay/exchanges/case")[0] == 200
    assert rows(channel, stream()) == ([], "FAILED_PRECONDITION")
    assert http(server, "GET", "/replay/exchanges")[1] == {"exchanges": []}


def test_what_clients_ask_is_logged(tmp_path: Path) -> None:
    """Each call and each request is an event of the file and of the API, in order."""
    log = tmp_path / "asked.log"
    with Replay(tls=False, clock=at_once, log=log) as server:
        server.shelf.put(recorded())
        with grpc.insecure_channel(f"127.0.0.1:{server.addresses['grpc']}", options=ALONE) as channel:
            session(channel, TABLE)
            rows(channel, stream(), 2)
            rows(channel, "other")
        http(server, "GET", "/bigquery/v2/projects/p/datasets/d/tables/t")
        told = http(server, "GET", "/replay/calls?since=1")[1]
    events = [json.loads(line) for line in log.read_text("utf-8").splitlines()]

    assert [event["event"] for event in events] == ["call", "call", "call", "request"]
    assert [event.get("end") for event in events] == ["OK", "OK", "not recorded", None]
    assert (events[1]["offset"], events[1]["responses"], events[3]["status"]) == (2, 2, 200)
    assert told == {"calls": events[1:], "next": 4}


@pytest.mark.parametrize(
    ("asked", "body", "status", "said"),
    [
        ("GET /replay/nothing", None, 404, "expected a request of docs/replay.md"),
        ("DELETE /replay/exchanges/none", None, 404, "no exchange 'none'"),
        ("POST /replay/exchanges", {"other": 1}, 400, "other: expected one of the keys"),
        ("POST /replay/exchanges", {"path": "/nowhere.log"}, 400, "/nowhere.log"),
        ("POST /replay/exchanges/case/faults", {"faults": [{"kind": "odd"}]}, 400, "kind"),
        ("POST /replay/retry", {"test": "odd"}, 400, "no test is called 'odd'"),
        ("POST /replay/retry/trial-9", {"rows": []}, 400, "no trial 'trial-9'"),
        ("GET /replay/calls?since=x", None, 400, "since: expected the number of an event"),
        ("GET /replay/calls?since=1_0", None, 400, "since: expected the number of an event"),
        ("GET /replay/calls?since=%C2%B2", None, 400, "since: expected the number of an event"),
        ("GET /replay/calls?since=" + 5000 * "9", None, 400, "since: expected the number of an event"),
    ],
)
def test_a_wrong_request_is_refused_in_one_sentence(
    server: Replay, asked: str, body: object, status: int, said: str
) -> None:
    """The answer says what was expected."""
    method, _, path = asked.partition(" ")

    code, answer = http(server, method, path, body)

    assert code == status
    assert said in answer["error"]


def test_nothing_of_a_file_that_is_no_log_is_told(server: Replay, tmp_path: Path) -> None:
    """Any user of this machine may ask, and the first line of a file may be a token."""
    (tmp_path / "token").write_text("a-made-up-token\n", encoding="utf-8")

    code, answer = http(server, "POST", "/replay/exchanges", {"path": str(tmp_path / "token")})

    assert (code, answer) == (
        400,
        {"error": f"{tmp_path / 'token'}: expected a log with exchanges, or the folder of a truth pack"},
    )


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Origin": "http://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "elsewhere.example"}, 403),
        ({"Host": "127.0.0.1.elsewhere.example:80"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "localhost:80"}, 200),
        ({"Host": "127.0.0.1"}, 200),
        ({"Host": "[::1]:80"}, 200),
    ],
)
def test_web_pages_are_refused(server: Replay, headers: dict[str, str], code: int) -> None:
    """A page of any site may send requests here; by DNS rebinding it could read the answers, too."""
    connection = http_client.HTTPConnection("127.0.0.1", server.addresses["rest"])
    with closing(connection):
        connection.request("GET", "/replay/exchanges", headers=headers)

        assert connection.getresponse().status == code


def test_a_server_that_hangs_lets_its_client_go() -> None:
    """Nothing comes after the first response; the client ends the call, and the log says so."""

    async def never(_seconds: float) -> None:
        await asyncio.Event().wait()

    with Replay(tls=False, clock=never) as server:
        server.shelf.put(recorded())
        server.shelf.plan("case", (PlannedFault(FaultKind.DELAY, responses=1),))
        request = proto.ReadRowsRequest(read_stream=stream()).SerializeToString()
        with grpc.insecure_channel(f"127.0.0.1:{server.addresses['grpc']}", options=ALONE) as channel:
            call: Any = channel.unary_stream(f"{proto.SERVICE}ReadRows", None, None)(request)
            first = next(call)
            call.cancel()
            while not server.asked.since(0):
                pass
    (event,) = server.asked.since(0)

    assert first == RESPONSES[0]
    assert (event["responses"], event["end"], event["fault_happened"]) == (1, "cancelled", True)


@needs_openssl
def test_tls_with_the_certificate_of_the_start(secure: Replay) -> None:
    """Both protocols are served over TLS to whoever trusts the authority."""
    ca = Path(secure.addresses["ca"])
    trusted = grpc.ssl_channel_credentials(ca.read_bytes())
    url = f"https://localhost:{secure.addresses['rest_tls']}/bigquery/v2/projects/p/datasets/d/tables/t"

    with grpc.secure_channel(f"localhost:{secure.addresses['grpc_tls']}", trusted, ALONE) as channel:
        assert rows(channel, stream()) == ([2, 1, 3], "OK")
    with urllib.request.urlopen(url, context=ssl.create_default_context(cafile=ca)) as answer:
        assert json.load(answer)["numRows"] == "6"


@needs_openssl
def test_the_proxy_leads_the_hosts_of_the_service_here(secure: Replay) -> None:
    """A client without an option for its endpoint reads through the proxy, under the names of the service."""
    ca = Path(secure.addresses["ca"])
    proxy = f"http://127.0.0.1:{secure.addresses['proxy']}"
    trusted = grpc.ssl_channel_credentials(ca.read_bytes())
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"https": proxy}),
        urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca)),
    )
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.http_proxy", proxy)]

    with grpc.secure_channel("bigquerystorage.googleapis.com:443", trusted, options) as channel:
        assert rows(channel, stream()) == ([2, 1, 3], "OK")
    with opener.open("https://oauth2.googleapis.com/token", b"grant_type=x") as answer:
        assert json.load(answer)["token_type"] == "Bearer"


@needs_openssl
@pytest.mark.parametrize("host", ["example.com:443", "bigquery.googleapis.com:80", "storage.googleapis.com:443"])
def test_the_proxy_refuses_every_other_host(secure: Replay, host: str) -> None:
    """Nothing leaves the machine, and the log says who was asked for."""
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"https": f"http://127.0.0.1:{secure.addresses['proxy']}"})
    )

    with pytest.raises(OSError, match="403 Forbidden"):
        opener.open(f"https://{host}/")

    last = [event for event in secure.asked.since(0) if event["event"] == "connect"][-1]
    assert (last["host"], last["known"]) == (host.partition(":")[0], False)


def test_a_recorded_query_is_answered_with_the_stream_of_its_job(server: Replay, channel: grpc.Channel) -> None:
    """The page comes over REST, its job is done, and the rows behind the page come from where they were read."""
    name = "projects/p/locations/us/jobs/j/streams/_default"
    answer = {"jobComplete": True, "pageToken": "t", "jobReference": {"projectId": "p", "jobId": "j"}, "location": "us"}
    asked = {"query": "SELECT 1", "queryResultsFormat": "ARROW"}
    query = Call(0, "", "jobs.query", json.dumps(asked).encode(), (json.dumps(answer).encode(),), status="OK")
    server.shelf.put(held(case(), of_calls(query, read(name, RESPONSES, offset=4)), name="query"))

    assert http(server, "POST", "/projects/p/queries", asked) == (200, answer)
    assert http(server, "POST", "/projects/p/queries", asked | {"query": "SELECT 2"})[0] == 400
    assert http(server, "GET", "/projects/p/jobs/j")[1]["jobReference"]["location"] == "us"
    assert rows(channel, name, 4) == ([2, 1, 3], "OK")
    assert rows(channel, name) == ([], "FAILED_PRECONDITION")
    assert {"query": "SELECT 1", "results": "ARROW", "job": "j"} in server.shelf.all()[-1].state()["queries"]


def test_a_recorded_error_of_a_query_is_answered_with_its_status(server: Replay) -> None:
    """With its body, or with what was kept of it; a success of the same query comes before it."""
    error = {"error": {"code": 403, "message": "no", "errors": [{"reason": "accessDenied"}]}}
    texts = {"SELECT 1": f"HTTP 403 {json.dumps(error)}", "SELECT 2": "HTTP 503 <html>", "SELECT 3": "HTTP 503 {}"}
    bodies = {text: json.dumps({"query": text}).encode() for text in texts}
    refused = [
        Call(0, "", "jobs.query", bodies[text], (), status="UNKNOWN", details=said) for text, said in texts.items()
    ]
    later = Call(0, "", "jobs.query", bodies["SELECT 3"], (b'{"jobComplete": true}',), status="OK")
    server.shelf.put(held(case(), of_calls(later), name="later"))
    server.shelf.put(held(case(), of_calls(*refused), name="refused"))

    answers = [http(server, "POST", "/projects/p/queries", {"query": text}) for text in texts]

    assert answers == [
        (403, error),
        (503, {"error": {"code": 503, "message": "<html>"}}),
        (200, {"jobComplete": True}),
    ]
    refusals = server.shelf.get("refused")
    assert refusals is not None
    assert [one["status"] for one in refusals.state()["queries"]] == [403, 503, 503]
