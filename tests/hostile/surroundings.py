"""Attacks by what surrounds a command: files of the current directory, pipes, limits, the interpreter's settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.hostile.attack import Expected, Part, register
from tests.hostile.setups import ROOT, Command

__all__: list[str] = []

MODULES: Final = (
    *("json", "logging", "typing", "click", "rich", "yaml", "grpc", "google", "h11", "pyarrow", "numpy", "duckdb"),
    *("sqlglot", "pandas", "polars", "runpy", "socket", "ssl", "pickle", "tomllib", "sitecustomize", "conformance"),
)
INSTALLED: Final = [sys.executable, "-P", "-m", "conformance"]
"""The suite as its installed command starts it: without the current directory in ``sys.path``."""


# --- the current directory ----------------------------------------------------------------------------


def _with_modules(place: Path, words: list[str]) -> Command:
    """A command in a directory with a file for each name; one that runs leaves a mark that is forbidden."""
    for name in MODULES:
        mark = str(place / "events" / f"forbidden.{name}")
        (place / f"{name}.py").write_text(f"open({mark!r}, 'w').close()\nraise SystemExit(99)\n", encoding="utf-8")
    return Command(words, program=INSTALLED)


@register("process.modules-in-the-current-directory", Part.COMMAND, Expected(status=(0,)), deadline=40.0)
def modules_in_the_current_directory(place: Path, cookie: str) -> Command:
    """Files in the current directory are named after modules; a run starts a server, shards and readers."""
    target = str(ROOT / "targets" / "reference.toml")
    return _with_modules(place, ["run", "--target", target, "--select", "types.b*", "--parallel", "2"])


@register("process.modules-beside-a-flight-server", Part.COMMAND, Expected(status=(0,)), deadline=40.0)
def modules_beside_a_flight_server(place: Path, cookie: str) -> Command:
    """The same for a run against a Flight server."""
    target = str(ROOT / "targets" / "flight-reference.toml")
    return _with_modules(place, ["run", "--target", target, "--select", "flight.e*"])


@register("process.modules-beside-a-file", Part.COMMAND, Expected(status=(1,)), deadline=20.0)
def modules_beside_a_file(place: Path, cookie: str) -> Command:
    """The same for ``check``, which reads bytes in a process of its own."""
    (place / "data.arrows").write_bytes(b"\xff\xff\xff\xff" + bytes(60))
    return _with_modules(place, ["check", "data.arrows"])


@register("process.grpc-without-polling", Part.COMMAND, Expected(status=(0,)), deadline=20.0)
def grpc_without_polling(place: Path, cookie: str) -> Command:
    """By a variable of the environment, gRPC is to wait in no way at all."""
    target = str(ROOT / "targets" / "reference.toml")
    words = ["run", "--target", target, "--select", "types.bool", "--no-readers"]
    return Command(words, environment={"GRPC_POLL_STRATEGY": "none"})


@register("process.ciphers-that-do-not-exist", Part.COMMAND, Expected(status=(2,), says="GRPC_SSL_CIPHER_SUITES"))
def ciphers_that_do_not_exist(place: Path, cookie: str) -> Command:
    """By a variable of the environment, gRPC is to use a cipher that nobody has, with a server behind TLS."""
    (place / "target.toml").write_text(
        'name = "x"\nkind = "server"\n[endpoint]\ngrpc = "localhost:1"\nrest = "http://localhost:1"\n[endpoint.tls]\n',
        encoding="utf-8",
    )
    return Command(["run", "--target", "target.toml"], environment={"GRPC_SSL_CIPHER_SUITES": "NONE-SUCH"})


@register("process.closed-input-to-read", Part.COMMAND, Expected(status=(2,), says="an empty file"))
def closed_input_to_read(place: Path, cookie: str) -> Command:
    """Standard input is closed, and the bytes to judge were to come from there."""
    return Command(["check", "-"], wrap=["/bin/sh", "-c", 'exec "$@" <&-', "sh"])


@register("process.full-standard-error", Part.COMMAND, Expected(status=(1,)))
def full_standard_error(place: Path, cookie: str) -> Command:
    """Standard error is on a full disk; the file has a finding."""
    (place / "data.arrows").write_bytes(b"\xff\xff\xff\xff" + bytes(60))
    return Command(["check", "data.arrows"], wrap=["/bin/sh", "-c", 'exec "$@" 2>/dev/full', "sh"])


# --- where credentials go -----------------------------------------------------------------------------

SENDS_ELSEWHERE: Final = """
import json, pathlib, socket, sys, threading
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.service import FlightService

def listen(listener):
    while True:
        listener.accept()
        pathlib.Path("events/forbidden.connection").touch()

port, path = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
path.bind("other.sock")
path.listen()
for listener in (port, path):
    threading.Thread(target=listen, args=(listener,), daemon=True).start()
service = FlightService()
service.locations = (f"grpc://127.0.0.1:{port.getsockname()[1]}", f"grpc+unix://{pathlib.Path('other.sock').resolve()}")
with FlightServer(service) as server:
    print(json.dumps({"event": "grpc.listen", "port": int(server.uri.rpartition(":")[2])}), flush=True)
    threading.Event().wait()
"""


def _flight(place: Path, server: str, more: str, select: str = "flight.e*") -> Command:
    """A run against a Flight server of the folder, with ``more`` at the end of its target file."""
    (place / "server.py").write_text(server, encoding="utf-8")
    (place / "target.toml").write_text(
        'name = "x"\nkind = "flight"\n[start]\ncommand = ["{python}", "server.py"]\ngrace = 0.5\n'
        f'environment = {{ PYTHONPATH = "{ROOT}" }}\n'
        f'[ready]\ngrpc_event = "grpc.listen"\n[flight]\nseeding = "put"\n{more}\n',
        encoding="utf-8",
    )
    return Command(["run", "--target", "target.toml", "--select", select, "--level", "must"])


@register("process.flight-endpoints-elsewhere", Part.COMMAND, Expected(status=(0, 1), says="was not tried"))
def flight_endpoints_elsewhere(place: Path, cookie: str) -> Command:
    """A Flight server names a port and a socket of other programs as the places of its tickets; headers are secret."""
    return _flight(place, SENDS_ELSEWHERE, 'headers = { x-api-key = "open sesame" }')


@register("process.flight-endpoint-of-many-locations", Part.COMMAND, Expected(status=(0, 1)), deadline=40.0)
def flight_endpoint_of_many_locations(place: Path, cookie: str) -> Command:
    """A Flight server names 100,000 places for each ticket, at none of which anybody is."""
    many = '(*(f"grpc://127.0.0.1:1/{number}" for number in range(100_000)),)'
    begin, _, end = SENDS_ELSEWHERE.partition("service.locations = ")
    server = f"{begin}service.locations = {many}\n{end.partition(chr(10))[2]}"
    return _flight(place, server, "[deadlines]\ncall = 2.0\ncase = 4.0")


@register("process.flight-info-of-many-fields", Part.COMMAND, Expected(status=(1,), says="are not read"), deadline=40.0)
def flight_info_of_many_fields(place: Path, cookie: str) -> Command:
    """A FlightInfo has more fields than are read, and its numbers behind them."""
    many = '(*(f"grpc://127.0.0.1:1/{number}" for number in range(140_000)),)'
    begin, _, end = SENDS_ELSEWHERE.partition("service.locations = ")
    server = f"{begin}service.locations = {many}\n{end.partition(chr(10))[2]}"
    return _flight(place, server, "[deadlines]\ncall = 4.0\ncase = 8.0")


EXPANDS: Final = """
import json, threading
import pyarrow as pa
from conformance.protocols.flight.contract.encoding import data
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.service import FlightService

column = pa.DictionaryArray.from_arrays(pa.array([0] * 200_000, pa.int8()), pa.array(["z" * 2_000_000]))
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, pa.schema([("a", column.type)])) as writer:
    writer.write_batch(pa.record_batch([column], names=["a"]))
stream, messages = pa.BufferReader(sink.getvalue()), []
while stream.tell() < stream.size() - 8:
    message = pa.ipc.read_message(stream)
    messages.append(data(message.metadata.to_pybytes(), message.body.to_pybytes() if message.body else b""))
service = FlightService()
service.stream = lambda flight: iter(messages)
with FlightServer(service) as server:
    print(json.dumps({"event": "grpc.listen", "port": int(server.uri.rpartition(":")[2])}), flush=True)
    threading.Event().wait()
"""


@register("process.flight-dictionary-of-one-large-value", Part.COMMAND, Expected(status=(1,)), deadline=40.0)
def flight_dictionary_of_one_large_value(place: Path, cookie: str) -> Command:
    """Two megabytes of a Flight server are 400 GB of text once decoded."""
    return _flight(place, EXPANDS, "", "flight.read-again")


NULLS: Final = "\n".join(
    "column = pa.nulls(77_777)" if line.startswith("column = ") else line for line in EXPANDS.split("\n")
).replace("to_pybytes(),", "to_pybytes().replace((77_777).to_bytes(8, 'little'), (2**40).to_bytes(8, 'little')),", 1)


@register("process.flight-rows-without-bytes", Part.COMMAND, Expected(status=(1,), says="rows or more"), deadline=40.0)
def flight_rows_without_bytes(place: Path, cookie: str) -> Command:
    """A hundred bytes of a Flight server are 2^40 rows of NULL."""
    return _flight(place, NULLS, "", "flight.read-again")


REPEATS_TOKEN: Final = """
import base64, concurrent.futures, json
import grpc
from conformance.protocols.flight.contract.encoding import part

TOKEN = b"a-made-up-token-of-this-attack"

def handler(asked):
    def answer(messages, context):
        if asked.method.endswith("/Handshake"):
            yield part(2, TOKEN)
        else:
            context.set_trailing_metadata((("x-echo-bin", TOKEN),))
            context.abort(grpc.StatusCode.INTERNAL, f"{TOKEN.decode()} {base64.b64encode(TOKEN).decode()}")
    return grpc.stream_stream_rpc_method_handler(answer)

class Handlers(grpc.GenericRpcHandler):
    service = staticmethod(handler)

server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
server.add_generic_rpc_handlers((Handlers(),))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(json.dumps({"event": "grpc.listen", "port": port}), flush=True)
server.wait_for_termination()
"""


@register("process.flight-token-in-every-answer", Part.COMMAND, Expected(status=(1,)), deadline=40.0)
def flight_token_in_every_answer(place: Path, cookie: str) -> Command:
    """A Flight server repeats the token of a login in each status and each trailer, as it is and in base64."""
    _flight(place, REPEATS_TOKEN, 'login = { user = "me", password = "a long password" }')
    forms = "-e of-this-attack -e YS1tYWRlLXVwLXRva2Vu"
    run = (
        f"{sys.executable} -P -m conformance run --target target.toml --select 'flight.e*' --exchanges --log log.jsonl"
    )
    return Command(
        ["-c", f"{run}; status=$?; grep -q {forms} l.jsonl && touch events/forbidden.token; exit $status"],
        program=["/bin/sh"],
        environment={"PYTHONPATH": str(ROOT)},
    )


MANY_ENDPOINTS: Final = """
import json, threading
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.service import FlightService

class Many(FlightService):
    def endpoints(self, flight):
        return list(super().endpoints(flight)) * 1_000_000

with FlightServer(Many()) as server:
    print(json.dumps({"event": "grpc.listen", "port": int(server.uri.rpartition(":")[2])}), flush=True)
    threading.Event().wait()
"""


@register("process.flight-info-of-many-endpoints", Part.COMMAND, Expected(status=(0, 1)), deadline=80.0)
def flight_info_of_many_endpoints(place: Path, cookie: str) -> Command:
    """A Flight server gives a million endpoints with the same ticket."""
    return _flight(place, MANY_ENDPOINTS, "[deadlines]\ncall = 5.0\ncase = 10.0", "flight.read-again")


@register("process.state-is-a-pickle", Part.COMMAND, Expected(status=(2,), says="status 2"))
def state_is_a_pickle(place: Path, cookie: str) -> Command:
    """The file in which the reference keeps its state is a pickle that runs something."""
    mark = str(place / "events" / "forbidden.pickle")
    (place / "state").write_bytes(f"cos\nmkdir\n(V{mark}\ntR.".encode())
    (place / "target.toml").write_text(
        'name = "x"\nkind = "server"\n[start]\n'
        'command = ["{python}", "-m", "conformance.reference", "--host", "{host}", "--state", "state"]\n'
        '[ready]\ngrpc_event = "grpc.listen"\nrest_event = "rest.listen"\n',
        encoding="utf-8",
    )
    return Command(["run", "--target", "target.toml", "--select", "types.bool", "--no-readers"])


# --- texts and files from elsewhere -------------------------------------------------------------------


@register("text.markup-in-the-name-of-a-program", Part.COMMAND, Expected(status=(0, 1), says="&#60;img"), deadline=40.0)
def markup_in_the_name_of_a_program(place: Path, cookie: str) -> Command:
    """A report says that its target is called by HTML, and ``matrix`` makes Markdown of it."""
    suite = f"{sys.executable} -P -m conformance"
    run = f"{suite} run --target reference --select types.bool --no-readers --json r.json"
    renamed = f'{run} && sed -i \'s/\\("target": *"[^"]*\\)/\\1<img src=x onerror=1>/\' r.json'
    return Command(["-c", f"{renamed} && exec {suite} matrix r.json"], program=["/bin/sh"])


@register("disk.case-file-nests-deeply", Part.COMMAND, Expected(status=(2,), says="nest less deeply"), deadline=20.0)
def case_file_nests_deeply(place: Path, cookie: str) -> Command:
    """A case file has 50,000 lists inside one another."""
    (place / "cases").mkdir()
    (place / "cases" / "deep.yaml").write_text("id: deep\ntitle: t\nx: " + "[" * 50_000 + "]" * 50_000)
    return Command(["run", "--target", "reference", "--corpus", "cases", "--no-readers"])


# --- pipes --------------------------------------------------------------------------------------------

NOTHING: Final = Expected(status=(2,), says="nothing came through the pipe")


def _with_pipe(*words: str) -> Callable[[Path, str], Command]:
    def arranged(place: Path, cookie: str) -> Command:
        os.mkfifo(place / "pipe")
        return Command(list(words))

    return arranged


for _name, _words in {
    "report": ("report", "pipe"),
    "diff": ("diff", "pipe", "pipe"),
    "matrix": ("matrix", "pipe"),
    "history": ("history", "pipe"),
    "statement": ("statement", "pipe"),
    "verify": ("verify", "pipe"),
    "prepare": ("prepare", "--target", "pipe"),
    "run": ("run", "--target", "pipe"),
    "gate": ("run", "--target", "reference", "--gate", "pipe"),
    "expect": ("expect", "--target", "reference", "--log", "pipe"),
    "faults": ("replay-server", "--faults", "pipe"),
}.items():
    _act = _with_pipe(*_words)
    _act.__doc__ = f"Nobody writes to the pipe that `{' '.join(_words)}` is to read."
    register(f"disk.pipe-for-{_name}", Part.COMMAND, NOTHING, deadline=25.0)(_act)


# --- the interpreter and its limits -------------------------------------------------------------------


def _limited(mebibytes: int, limit: str = "-v") -> list[str]:
    return ["/bin/sh", "-c", f'ulimit {limit} {mebibytes << 10}; exec "$@"', "sh"]


@register("process.little-address-space", Part.COMMAND, Expected(status=(2,), says="MiB of address space"))
def little_address_space(place: Path, cookie: str) -> Command:
    """The process may map 900 MiB."""
    return Command(["run", "--target", "reference", "--select", "types.every-type"], wrap=_limited(900))


@register("process.less-address-space-than-readers-need", Part.COMMAND, Expected(status=(2,), says="address space"))
def less_address_space_than_readers_need(place: Path, cookie: str) -> Command:
    """The process may map 1.5 GiB."""
    return Command(["run", "--target", "reference", "--select", "types.every-type"], wrap=_limited(1536))


@register("process.little-data", Part.COMMAND, Expected(status=(2,), says="MiB of memory to write"))
def little_data(place: Path, cookie: str) -> Command:
    """The process may write 48 MiB of memory of its own."""
    return Command(["run", "--target", "reference", "--select", "types.every-type"], wrap=_limited(48, "-d"))


@register("process.browser-that-stays", Part.COMMAND, Expected(status=(0,), says="no browser is opened"))
def browser_that_stays(place: Path, cookie: str) -> Command:
    """The browser that `--open` is to start never comes back."""
    browser = place / "browser"
    browser.write_text("#!/bin/sh\nexec sleep 100000\n", encoding="utf-8")
    browser.chmod(0o700)
    words = ["run", "--target", "reference", "--select", "types.int64", "--open"]
    return Command(words, environment={"BROWSER": str(browser)})


@register("process.no-docstrings", Part.COMMAND, Expected(status=(2,), says="docstrings"))
def no_docstrings(place: Path, cookie: str) -> Command:
    """Python leaves out docstrings."""
    return Command(["explain", "types.int64"], environment={"PYTHONOPTIMIZE": "2"})


def _full(*words: str) -> Callable[[Path, str], Command]:
    return lambda place, cookie: Command(list(words), stdout="/dev/full")


for _name, _words in {"help": ("--help",), "help-of-a-command": ("run", "--help"), "version": ("--version",)}.items():
    _act = _full(*_words)
    _act.__doc__ = f"The output of `{' '.join(_words)}` is on a full disk."
    register(f"disk.{_name}-on-a-full-disk", Part.COMMAND, Expected(status=(2,), says="No space left on device"))(_act)


@register("process.used-up-processor-time", Part.COMMAND, Expected(status=(1, 130)), deadline=60.0)
def used_up_processor_time(place: Path, cookie: str) -> Command:
    """The processor time of a run is used up after two seconds, and it may have sixty more to end."""
    limit = ["/bin/sh", "-c", 'ulimit -S -t 2; ulimit -H -t 62; exec "$@"', "sh"]
    return Command(["run", "--target", "reference", "--quiet", "--no-readers"], wrap=limit)


@register("process.a-shell-asks-behind-no-command", Part.COMMAND, Expected(status=(0,)))
def a_shell_asks_behind_no_command(place: Path, cookie: str) -> Command:
    """A shell asks for the words behind a command that does not exist, with a quotation that does not end."""
    asked = {"COMP_WORDS": 'conformance nosuch "x', "COMP_CWORD": "2"}
    return Command([], environment={"_CONFORMANCE_COMPLETE": "bash_complete", **asked})


@register("process.a-shell-asks-nothing", Part.COMMAND, Expected(status=(2,), says="expected COMP_WORDS"))
def a_shell_asks_nothing(place: Path, cookie: str) -> Command:
    """By a variable that was left in the environment, a shell asks for words, and says nothing of its line."""
    return Command(["check", "data.arrows"], environment={"_CONFORMANCE_COMPLETE": "zsh_complete"})
