"""Attacks by fields and variables that no attack before had turned: names, numbers, traces, addresses."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Final

from tests.hostile.attack import Expected, Part, register
from tests.hostile.setups import ROOT, Command
from tests.hostile.small import BOOLEANS
from tests.hostile.strangers import PEER, SUITE

__all__: list[str] = []

RAW: Final = "\x9b2J\u202e##vso[task.x]\x7f"
"""Characters that JSON leaves as they are, and words for a build service."""
DIGITS: Final = "9" * 5_000


@register("text.names-of-a-history", Part.COMMAND, Expected(status=(0,)))
def names_of_a_history(place: Path, cookie: str) -> Command:
    """The tables of a history are named in controls that JSON leaves as they are, and its calls are printed."""
    line = json.dumps({"op": "append", "begin": 0, "end": 1, "rows": [1], "table": RAW}, ensure_ascii=False)
    (place / "history.jsonl").write_text(line, encoding="utf-8")
    return Command(["history", "--calls", "history.jsonl"])


@register("text.cells-of-a-case", Part.COMMAND, Expected(status=(0,)), deadline=20.0)
def cells_of_a_case(place: Path, cookie: str) -> Command:
    """Cells and restrictions of a case are controls that JSON leaves as they are, and it is shown in three ways."""
    table = {"columns": [{"name": "a", "type": "STRING"}], "rows": [{"a": RAW}]}
    case = {"id": "x", "title": "t", "table": table, "steps": [{"op": "create-session", "row_restriction": RAW}]}
    (place / "x.json").write_text(json.dumps(case), encoding="utf-8")
    shown = f"{SUITE} show ./x.json"
    script = f"{shown} && {shown} --json && {shown} --yaml"
    return Command(["-c", script], program=["/bin/sh"], environment={"PYTHONPATH": str(ROOT)})


@register("text.version-of-thousands-of-digits", Part.COMMAND, Expected(status=(2,), says="such as 24.0.0"))
def version_of_thousands_of_digits(place: Path, cookie: str) -> Command:
    """A version of pyarrow has 5,000 digits."""
    return Command(["drift", "--from", DIGITS, "--to", "installed"])


@register("text.restriction-of-thousands-of-digits", Part.COMMAND, Expected(status=(0,), says="PASSED"), deadline=20.0)
def restriction_of_thousands_of_digits(place: Path, cookie: str) -> Command:
    """A client asks the reference for rows by a number of 5,000 digits."""
    refused = {"codes": ["INVALID_ARGUMENT"]}
    step = {"op": "create-session", "row_restriction": f"n = {DIGITS}", "expect": refused}
    table = {"columns": [{"name": "n", "type": "INT64"}], "rows": [{"n": 1}]}
    (place / "cases").mkdir()
    case = {"id": "x", "title": "t", "table": table, "steps": [step]}
    (place / "cases" / "x.json").write_text(json.dumps(case), encoding="utf-8")
    return Command(["run", "--corpus", "cases", "--no-readers", "--no-smoke"])


@register("text.name-that-is-no-text", Part.COMMAND, Expected(status=(0,), says="HTTP/1.1 400"))
def name_that_is_no_text(place: Path, cookie: str) -> Command:
    """A client of the replay server names an exchange by a list."""
    body = json.dumps({"path": "x.log", "name": ["x"]})
    head = f"POST /replay/exchanges HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n"
    (place / "peer.py").write_text(f"{PEER}\nspeak('CONFORMANCE_REST', b'{head}' + {body.encode()!r})\n", "utf-8")
    return Command(["replay-server", "types.bool", "--no-tls", "--", sys.executable, "peer.py"])


@register("process.proxy-before-itself", Part.COMMAND, Expected(status=(2,), says="that of the proxy itself"))
def proxy_before_itself(place: Path, cookie: str) -> Command:
    """The server whose calls are to be recorded is the proxy that records."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    here = ["--listen", f"127.0.0.1:{port}", "--upstream", f"localhost:{port}"]
    return Command(["record", *here, "--out", "said.log", "--", "true"])


@register("process.python-that-stays", Part.COMMAND, Expected(status=(0,)), deadline=20.0)
def python_that_stays(place: Path, cookie: str) -> Command:
    """By a variable of the environment, Python is to ask for more when a command has ended."""
    return Command(["run", "--select", "types.bool", "--no-readers"], environment={"PYTHONINSPECT": "1"})


@register("process.traces-of-grpc", Part.COMMAND, Expected(status=(0,), says="PASSED"), deadline=30.0)
def traces_of_grpc(place: Path, cookie: str) -> Command:
    """By variables of the environment, gRPC is to print the headers of every call, and a token is one of them."""
    (place / "token").write_text("a-made-up-token-of-this-attack\n", encoding="utf-8")
    begun = f"{SUITE} serve --token-file token >ports.txt & until grep -q rest ports.txt; do :; done"
    port = "sed -n 's/.*{kind}.listen.*\"port\": *\\([0-9]*\\).*/\\1/p' ports.txt"
    file = (
        f'printf \'name = "x"\\nkind = "server"\\n[endpoint]\\ngrpc = "127.0.0.1:%s"\\nrest = "http://127.0.0.1:%s"\\n'
        f'[endpoint.token]\\nfile = "token"\\n\' $({port.format(kind="grpc")}) $({port.format(kind="rest")}) >t.toml'
    )
    traced = "GRPC_TRACE=all GRPC_VERBOSITY=debug"
    ran = f"{traced} {SUITE} run --target t.toml --select types.bool --no-readers >said.txt 2>errors.txt; status=$?"
    told = "grep -q of-this-attack said.txt errors.txt && touch events/forbidden.token; cat said.txt"
    script = f"{begun}; {file}; {ran}; kill $!; wait; {told}; exit $status"
    return Command(["-c", script], program=["/bin/sh"], environment={"PYTHONPATH": str(ROOT)})


@register("small.items-without-bytes-in-avro", Part.COMMAND, Expected(status=(0, 1)), deadline=20.0)
def items_without_bytes_in_avro(place: Path, cookie: str) -> Command:
    """A row in Avro is an array of 2^40 nulls, none of which takes a byte."""
    (place / "schema.json").write_text(BOOLEANS.replace("boolean", "null"), encoding="utf-8")
    (place / "rows.bin").write_bytes(b"\x80\x80\x80\x80\x80\x40\x00")
    return Command(["check", "--avro-schema", "schema.json", "--avro-rows", "rows.bin"])
