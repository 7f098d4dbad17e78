"""Attacks by what strangers leave or send: links in the places of files, statements, recordings, clients and peers."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.hostile.attack import Expected, Part, register
from tests.hostile.setups import ROOT, Command

__all__: list[str] = []

NOT_FOLLOWED: Final = Expected(status=(2,), says="is not followed")
SUITE: Final = f"{sys.executable} -P -m conformance"


def _forbidden(place: Path, name: str) -> Path:
    """A file that nobody may write."""
    return place / "events" / f"forbidden.{name}"


# --- links and special files --------------------------------------------------------------------------


@register("disk.lock-is-a-link", Part.COMMAND, NOT_FOLLOWED)
def lock_is_a_link(place: Path, cookie: str) -> Command:
    """The lock of the log of a run is a symbolic link to a file elsewhere, which the lock would overwrite."""
    (place / ".conformance").mkdir()
    (place / ".conformance" / ".reference.jsonl.lock").symlink_to(_forbidden(place, "lock"))
    return Command(["run", "--select", "types.int64", "--no-readers"])


@register("disk.log-of-a-run-is-a-link", Part.COMMAND, NOT_FOLLOWED)
def log_of_a_run_is_a_link(place: Path, cookie: str) -> Command:
    """The log of a run, which the suite names, is a symbolic link to a file elsewhere."""
    (place / ".conformance").mkdir()
    (place / ".conformance" / "reference.jsonl").symlink_to(_forbidden(place, "log"))
    return Command(["run", "--select", "types.int64", "--no-readers"])


@register("disk.golden-file-is-a-link", Part.COMMAND, NOT_FOLLOWED)
def golden_file_is_a_link(place: Path, cookie: str) -> Command:
    """A golden file is a symbolic link to a file elsewhere, and all are to be written again."""
    (place / "golden" / "bq-arrow").mkdir(parents=True)
    (place / "golden" / "bq-arrow" / "manifest.json").symlink_to(_forbidden(place, "golden"))
    return Command(["golden", "--set", "bq-arrow", "--dir", "golden"])


@register("disk.golden-set-is-a-link", Part.COMMAND, NOT_FOLLOWED)
def golden_set_is_a_link(place: Path, cookie: str) -> Command:
    """The folder of a golden set is a symbolic link to another folder, whose files are not of the set."""
    (place / "golden").mkdir()
    (place / "golden" / "bq-arrow").symlink_to(place / "events")
    return Command(["golden", "--set", "bq-arrow", "--dir", "golden"])


@register("disk.new-target-is-a-link", Part.COMMAND, Expected(status=(2,), says="but it is a link"))
def new_target_is_a_link(place: Path, cookie: str) -> Command:
    """The file that `init` makes is a symbolic link to a file elsewhere, which does not exist yet."""
    (place / "other.toml").symlink_to(_forbidden(place, "target"))
    return Command(["init", "--name", "other", "--grpc", "localhost:1", "--rest", "http://localhost:2"])


@register("disk.log-that-cannot-be-read", Part.COMMAND, Expected(status=(2,), says="mem: Input/output error"))
def log_that_cannot_be_read(place: Path, cookie: str) -> Command:
    """The log is the memory of the process, whose first byte is an error to read."""
    return Command(["report", "/proc/self/mem"])


# --- statements and logs ------------------------------------------------------------------------------


@register("text.statement-on-a-target-of-a-stranger", Part.COMMAND, Expected(status=(2,), says="--target"), deadline=40)
def statement_on_a_target_of_a_stranger(place: Path, cookie: str) -> Command:
    """A valid statement names a target file of its author, which starts a program, and is verified with `--rerun`."""
    (place / "evil.toml").write_text(
        'name = "evil"\nkind = "server"\n[start]\ncommand = ["/bin/sh", "-c", "touch started; exec {python} -m '
        'conformance.reference --host {host}"]\n'
        f'environment = {{ PYTHONPATH = "{ROOT}" }}\n'
        '[ready]\ngrpc_event = "grpc.listen"\nrest_event = "rest.listen"\n',
        encoding="utf-8",
    )
    made = f"{SUITE} run --target evil.toml --select types.bool --no-readers --json r.json"
    stated = f"{SUITE} statement r.json --markdown s.md && rm started"
    again = f"{SUITE} verify s.md --rerun; status=$?; mv started {_forbidden(place, 'started')} 2>/dev/null"
    return Command(["-c", f"{made} && {stated} && {{ {again}; exit $status; }}"], program=["/bin/sh"])


HOSTILE: Final = (
    "\x1b[2J\r\n::error file=x::owned\n<script>alert(1)</script><img src=x onerror=alert(1)>`|\u202e\ud800\x00"
)
KEPT: Final = frozenset(
    {"event", "outcome", "clause", "case_id", "level", "cases", "clauses", "profile", "digest", "suite", "select"}
)
"""The keys of a log whose values decide whether it is one."""


def poisoned(value: object, *, inside: bool = True) -> object:
    """``value`` with hostile text behind each text."""
    if isinstance(value, dict):
        return {key: poisoned(one, inside=inside and key not in KEPT) for key, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, inside=inside) for one in value]
    return value + HOSTILE if isinstance(value, str) and inside else value


def poison(source: str, log: str) -> None:
    """Write a log whose free texts are hostile, with the digest that fits."""
    lines = [json.dumps(poisoned(json.loads(line))) + "\n" for line in Path(source).read_text("utf-8").splitlines()]
    ended = json.loads(lines[-1])
    ended["digest"] = hashlib.sha256("".join(lines[:-1]).encode()).hexdigest()
    Path(log).write_text("".join(lines[:-1]) + json.dumps(ended) + "\n", encoding="utf-8")


@register("text.log-of-hostile-texts", Part.COMMAND, Expected(status=(1,), says="owned"), deadline=40.0)
def log_of_hostile_texts(place: Path, cookie: str) -> Command:
    """Each free text of a log is controls of terminals, words for CI and markup, and the digest fits."""
    made = f"{SUITE} run --target broken --select session.plain --no-readers --log first.jsonl >first.txt 2>&1"
    forged = f"{sys.executable} -c \"from tests.hostile.strangers import poison; poison('first.jsonl', 'run.jsonl')\""
    page = {"html": place / "r.html", "json": place / "r.json", "junit": place / "r.xml"}
    words = " ".join(f"--{kind} {path}" for kind, path in page.items())
    unsafe = "grep -q '<script>alert\\|<img src' r.html && touch events/forbidden.markup"
    ended = f"{SUITE} report run.jsonl --all {words}; status=$?; {unsafe}; exit $status"
    return Command(
        ["-c", f"{made}; PYTHONPATH={ROOT} {forged} && {{ {ended}; }}"],
        program=["/bin/sh"],
        reports=page,
    )


# --- clients and peers --------------------------------------------------------------------------------


def _client(place: Path, program: str, name: str = "tiny", select: str = "types.int64") -> Command:
    (place / "client.py").write_text(program, encoding="utf-8")
    (place / "client.toml").write_text(
        f'name = "{name}"\ntitle = "t"\nlanguage = "Python"\npackage = "p"\n'
        'command = ["{python}", "{here}/client.py"]\n[paths.rows]\ntitle = "rows"\n',
        encoding="utf-8",
    )
    return Command(["clients", "--program", "client.toml", "--select", select, "--seconds", "1"])


CLIENT: Final = """
import json, os, signal, sys, time
HELLO = {"status": "ok", "protocol": 1, "implementation": "tiny", "title": "t", "language": "Python", "version": "1",
         "reads": [], "writes": [], "paths": ["rows"]}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] != "hello":
        attack(asked)
    print(json.dumps({"id": asked["id"], **HELLO}), flush=True)
"""


@register("text.client-named-out-of-its-folder", Part.COMMAND, Expected(status=(2,), says="expected a name of"))
def client_named_out_of_its_folder(place: Path, cookie: str) -> Command:
    """The name of a client, after which files are named, leads out of every folder."""
    return _client(place, CLIENT, name="../../up")


@register("life.client-leaves-a-daemon", Part.COMMAND, Expected(status=(1,), says="hang"), deadline=60.0)
def client_leaves_a_daemon(place: Path, cookie: str) -> Command:
    """A client leaves a daemon that ignores every signal, ignores SIGTERM itself, and never answers."""
    begins = """
def attack(asked):
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)
"""
    return _client(place, "import os, signal, time" + begins + CLIENT)


@register("text.client-of-hostile-words", Part.COMMAND, Expected(status=(1,), says="protocol"), deadline=40.0)
def client_of_hostile_words(place: Path, cookie: str) -> Command:
    """A client answers with controls, JSON of 400,000 levels, numbers of 6,000 digits, and values of wrong types."""
    begins = r"""
import itertools
ANSWERS = itertools.cycle(["[" * 400_000, "\x1b[2J::error::x", '{"id": %d, "status": ["ok"], "rows": true}',
    '{"id": %d, "status": "ok", "names": ["a"], "rows": 1e400, "columns": [[' + "9" * 6000 + ", NaN]]}"])
def attack(asked):
    answer = next(ANSWERS)
    print(answer % asked["id"] if "%d" in answer else answer, flush=True)
"""
    return _client(place, begins + CLIENT, select="refused.*")


PEER: Final = """
import os, socket
def speak(name, words):
    host, port = os.environ[name].split("//")[-1].split(":")
    with socket.create_connection((host, int(port)), timeout=5) as peer:
        try:
            peer.sendall(words)
            peer.settimeout(2)
            print(peer.recv(100)[:30])
        except OSError as error:
            print(type(error).__name__)
"""


@register("text.deep-request-to-the-replay-server", Part.COMMAND, Expected(status=(0,), says="HTTP/1.1 400"))
def deep_request_to_the_replay_server(place: Path, cookie: str) -> Command:
    """A client of the replay server sends two million brackets as the body of a query."""
    body = r"""
head = b"POST /bigquery/v2/projects/p/queries HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n"
speak("CONFORMANCE_REST", head + b"[" * 2_000_000)
"""
    (place / "peer.py").write_text(PEER + body, encoding="utf-8")
    return Command(["replay-server", "types.int64", "--no-tls", "--", sys.executable, "peer.py"])


@register("wire.garbage-to-the-recording-proxy", Part.COMMAND, Expected(status=(0,), says="0 calls"), deadline=40.0)
def garbage_to_the_recording_proxy(place: Path, cookie: str) -> Command:
    """A client of `record` sends noise, a million headers and a flood of HTTP/2 pings, and holds 200 connections."""
    body = r"""
host, port = os.environ["CONFORMANCE_GRPC"].split(":")
held = [socket.create_connection((host, int(port)), timeout=5) for _ in range(200)]
ping = b"\0\0\x08\6\0\0\0\0\0" + b"12345678"
for words in (os.urandom(200_000), b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1_000_000,
              b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0" + ping * 200_000):
    speak("CONFORMANCE_GRPC", words)
"""
    (place / "peer.py").write_text(PEER + body, encoding="utf-8")
    return Command(["record", "--upstream", "127.0.0.1:1", "--out", "said.log", "--", sys.executable, "peer.py"])


@register("text.token-asked-of-the-replay-server", Part.COMMAND, Expected(status=(0,), says="400 403"))
def token_asked_of_the_replay_server(place: Path, cookie: str) -> Command:
    """The replay server is to serve a file with a token, and then to answer the page of another site."""
    body = f"""
import urllib.error, urllib.request
def ask(**headers):
    url = os.environ["CONFORMANCE_REST"] + "/replay/exchanges"
    try:
        urllib.request.urlopen(urllib.request.Request(url, b'{{"path": "token"}}', headers))
    except urllib.error.HTTPError as error:
        if b"made-up-token" in error.read():
            open({str(_forbidden(place, "token-in-an-answer"))!r}, "w").close()
        return error.code
print(ask(), ask(Host="elsewhere.example"))
"""
    (place / "token").write_text("made-up-token\n", encoding="utf-8")
    (place / "peer.py").write_text("import os\n" + body, encoding="utf-8")
    return Command(["replay-server", "types.int64", "--no-tls", "--", sys.executable, "peer.py"])


@register("text.token-of-a-command-that-fails", Part.COMMAND, Expected(status=(2,), says=r"refused \*\*\* by"))
def token_of_a_command_that_fails(place: Path, cookie: str) -> Command:
    """A token command prints its token to its standard error only, and fails."""
    command = json.dumps([sys.executable, "-c", "exit('refused ya29.A0b1C2d3E4 by the server')"])
    (place / "target.toml").write_text(
        f'name = "t"\nkind = "server"\n[endpoint]\ngrpc = "127.0.0.1:1"\nrest = "http://127.0.0.1:1"\n'
        f"[endpoint.token]\ncommand = {command}\n",
        encoding="utf-8",
    )
    return Command(["run", "--target", "target.toml", "--no-readers"])


@register("text.token-in-wide-characters", Part.COMMAND, Expected(status=(2,), says=r"no token: refused \*\*\*"))
def token_in_wide_characters(place: Path, cookie: str) -> Command:
    """A token command fails, and prints its token to its standard error in UTF-16, with a NUL between its letters."""
    body = "import sys; sys.stderr.buffer.write('refused ya29.A0b1C2d3E4'.encode('utf-16-le')); sys.exit(1)"
    (place / "target.toml").write_text(
        f'name = "t"\nkind = "server"\n[endpoint]\ngrpc = "127.0.0.1:1"\nrest = "http://127.0.0.1:1"\n'
        f"[endpoint.token]\ncommand = {json.dumps([sys.executable, '-c', body])}\n",
        encoding="utf-8",
    )
    return Command(["run", "--target", "target.toml", "--no-readers"])


@register("text.endless-counts-of-a-fault-plan", Part.COMMAND, Expected(status=(2,), says="expected at most"))
def endless_counts_of_a_fault_plan(place: Path, cookie: str) -> Command:
    """A fault is to happen behind 10^400 responses, which no exchange has."""
    plan = f'{{"faults": [{{"kind": "reset", "responses": 1{"0" * 400}}}]}}'
    (place / "plan.json").write_text(plan, encoding="utf-8")
    return Command(["replay-server", "types.int64", "--no-tls", "--faults", "plan.json", "--", "true"])


@register("text.endless-times-in-a-history", Part.COMMAND, Expected(status=(2,), says="expected times from 0"))
def endless_times_in_a_history(place: Path, cookie: str) -> Command:
    """A call of a history lasts from the beginning of all time to its end."""
    line = '{"op": "append", "begin": -Infinity, "end": 1e999, "rows": [1]}\n'
    (place / "history.jsonl").write_text(line, encoding="utf-8")
    return Command(["history", "history.jsonl"])


@register("text.expected-failures-for-a-terminal", Part.COMMAND, Expected(status=(1,), says="2 changes|1 change"))
def expected_failures_for_a_terminal(place: Path, cookie: str) -> Command:
    """The known failures of a stranger's target file, which `expect` removes, are control sequences of terminals."""
    entry = '[[expected_failures]]\nclause = "framing.*"\ncase = "\\u001b[2J"\nreason = "\\u001b]0;x\\u0007"\n'
    target = (ROOT / "targets" / "reference.toml").read_text(encoding="utf-8")
    (place / "target.toml").write_text(target + entry, encoding="utf-8")
    words = ["run", "--target", "target.toml", "--select", "types.bool", "--no-readers", "--log", "log.jsonl"]
    subprocess.run([sys.executable, "-m", "conformance", *words], cwd=place, capture_output=True, check=False)
    return Command(["expect", "--target", "target.toml", "--log", "log.jsonl"])


@register("text.pages-ask-the-reference", Part.COMMAND, Expected(status=(0,), says="403 403 403 200"), deadline=30)
def pages_ask_the_reference(place: Path, cookie: str) -> Command:
    """Pages of another site, one of which has a name that leads to this machine, make tables over REST in `serve`."""
    body = """
import json, subprocess, sys, urllib.error, urllib.request
serving = subprocess.Popen([sys.executable, "-P", "-m", "conformance", "serve"], stdout=subprocess.PIPE)
ports = {said["event"]: said["port"] for said in (json.loads(serving.stdout.readline()) for _ in range(2))}
def ask(**headers):
    url = f"http://127.0.0.1:{ports['rest.listen']}/bigquery/v2/projects/p/datasets"
    data = b'{"datasetReference": {"projectId": "p", "datasetId": "d"}}'
    try:
        return urllib.request.urlopen(urllib.request.Request(url, data, headers)).status
    except urllib.error.HTTPError as error:
        return error.code
print(ask(Origin="http://elsewhere.example"), ask(Origin="null"), ask(Host="elsewhere.example"), ask())
serving.terminate()
sys.exit(serving.wait())
"""
    (place / "page.py").write_text(body, encoding="utf-8")
    return Command(["page.py"], program=[sys.executable, "-P"])


@register("text.file-in-which-nothing-comes", Part.COMMAND, Expected(status=(0, 2)), deadline=20)
def file_in_which_nothing_comes(place: Path, cookie: str) -> Command:
    """A link in the place of an Arrow file leads to the messages of the kernel, which keep a reader waiting."""
    (place / "messages.arrow").symlink_to("/proc/kmsg")
    return Command(["check", "messages.arrow"])


@register("disk.case-of-millions-of-small-rows", Part.COMMAND, Expected(status=(2,), says="at most 1000000 rows"))
def case_of_millions_of_small_rows(place: Path, cookie: str) -> Command:
    """A case's recipe asks for 50 million rows of one number, which are within the limit of bytes."""
    text = (
        "id: many\ntitle: t\ntable:\n  columns:\n  - {name: row_id, type: INT64, mode: REQUIRED}\n"
        "  recipe: {rows: 50000000, seed: 1}\nclauses: [types.int64]\n"
    )
    (place / "many.yaml").write_text(text, encoding="utf-8")
    return Command(["replay", "many.yaml", "--no-readers"])


FLOOD: Final = """
import contextlib, os, socket, subprocess, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
def flood(one):
    with contextlib.suppress(OSError):
        while True:
            one.sendall(bytes.fromhex(SENT) * 100)
def accept():
    while True:
        threading.Thread(target=flood, args=(listener.accept()[0],), daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
url = f"grpc://127.0.0.1:{listener.getsockname()[1]}"
words = ["run", "--target", url, "--select", "errors.table-in-dots", "--no-readers", "--no-smoke", "--quiet"]
sys.exit(subprocess.call([sys.executable, "-P", "-m", "conformance", *words]))
"""


def _flood(place: Path, sent: str) -> Command:
    """A server that sends the frames ``sent``, in hexadecimal digits, without end from the first moment."""
    (place / "flood.py").write_text(f"SENT = {sent!r}\n" + FLOOD, encoding="utf-8")
    return Command(["flood.py"], program=[sys.executable, "-P"])


@register("text.floods-from-the-first-moment", Part.COMMAND, Expected(status=(1, 2)), deadline=60)
def floods_from_the_first_moment(place: Path, cookie: str) -> Command:
    """A running server sends SETTINGS and PING frames without end from the first moment, before the first call."""
    return _flood(place, "000006040000000000" + "000300000064" + "000008060000000000" + "3132333435363738")


@register("text.pushes-from-the-first-moment", Part.COMMAND, Expected(status=(1, 2)), deadline=60)
def pushes_from_the_first_moment(place: Path, cookie: str) -> Command:
    """A running server sends PUSH_PROMISE frames without end from the first moment."""
    return _flood(place, "000000040000000000" + "000005050400000001" + "0000000288")


SERVED: Final = """
import base64, http.server, json, os, socket, subprocess, sys, threading
SUITE = [sys.executable, "-P", "-m", "conformance"]
SECRET = "Bearer a-made-up-secret-of-length"
serving = subprocess.Popen([*SUITE, "serve"], stdout=subprocess.PIPE)
ports = {said["event"]: said["port"] for said in (json.loads(serving.stdout.readline()) for _ in range(2))}
def run(rest, environment):
    text = 'name = "mine"\\\\nkind = "server"\\\\n[endpoint]\\\\n' + f'grpc = "127.0.0.1:{ports["grpc.listen"]}"\\\\n'
    text += f'rest = "http://127.0.0.1:{rest}"\\\\nheaders = {{ authorization = "{SECRET}" }}\\\\n'
    open("mine.toml", "w").write(text)
    words = ["run", "--target", "mine.toml", "--select", "types.int64", "--no-readers", "--quiet", "--log", "a"]
    done = subprocess.run([*SUITE, *words], env={**os.environ, **environment}, capture_output=True)
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    serving.terminate()
    serving.wait()
    return done.stdout + done.stderr, done.returncode
""".replace("\\\\", "\\")


@register("text.secret-in-another-form", Part.COMMAND, Expected(status=(2,), says="you said"), deadline=30)
def secret_in_another_form(place: Path, cookie: str) -> Command:
    """The REST side repeats the secret of each request in its refusal, in base64, alone and in a sentence."""
    body = f"""
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sent = self.headers["Authorization"]
        said = " ".join(base64.b64encode(one.encode()).decode() for one in (sent, "got " + sent))
        data = json.dumps({{"error": {{"message": "you said " + said}}}}).encode()
        self.send_response(400)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass
listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=listener.serve_forever, daemon=True).start()
said, status = run(listener.server_port, {{}})
if any(base64.b64encode((before + SECRET).encode())[16:32] in said for before in ("", "got ")):
    open({str(_forbidden(place, "secret-in-base64"))!r}, "w").close()
sys.exit(status)
"""
    (place / "secret.py").write_text(SERVED + body, encoding="utf-8")
    return Command(["secret.py"], program=[sys.executable, "-P"])


@register("text.proxies-and-passwords-of-the-user", Part.COMMAND, Expected(status=(0,), says="PASSED"), deadline=30)
def proxies_and_passwords_of_the_user(place: Path, cookie: str) -> Command:
    """Variables name a proxy for every protocol and `~/.netrc` has a password, and the target is on this machine."""
    body = f"""
proxy = socket.create_server(("127.0.0.1", 0))
def accept():
    while True:
        proxy.accept()
        open({str(_forbidden(place, "asked-the-proxy"))!r}, "w").close()
threading.Thread(target=accept, daemon=True).start()
url = f"http://127.0.0.1:{{proxy.getsockname()[1]}}"
names = ["http_proxy", "https_proxy", "all_proxy", "grpc_proxy"]
proxies = {{name: url for one in names for name in (one, one.upper())}}
open(".netrc", "w").write("machine 127.0.0.1 login me password a-made-up-password\\n")
os.chmod(".netrc", 0o600)
said, status = run(ports["rest.listen"], {{**proxies, "no_proxy": "", "NO_PROXY": "", "HOME": os.getcwd()}})
sys.exit(status)
"""
    (place / "secret.py").write_text(SERVED + body, encoding="utf-8")
    return Command(["secret.py"], program=[sys.executable, "-P"])


@register("text.statement-names-files-elsewhere", Part.COMMAND, Expected(status=(2,), says="next to it"), deadline=30)
def statement_names_files_elsewhere(place: Path, cookie: str) -> Command:
    """A statement names a file outside of its folder as the log of its run."""
    made = f"{SUITE} run --select types.bool --no-readers --json r.json && {SUITE} statement r.json --markdown s.md"
    changed = """sed -i 's#"reference.jsonl"#"../../../../../../../etc/passwd"#' s.md"""
    return Command(["-c", f"{made} && {changed} && {SUITE} verify s.md"], program=["/bin/sh"])


@register("text.folder-of-special-files", Part.COMMAND, Expected(status=(2,), says="cannot be judged"), deadline=30)
def folder_of_special_files(place: Path, cookie: str) -> Command:
    """A folder to check has a pipe, a loop of links, a link to nowhere, to an endless device and to memory."""
    folder = place / "folder"
    folder.mkdir()
    os.mkfifo(folder / "pipe.arrow")
    for name, there in (("loop", "."), ("no.arrow", "nowhere"), ("zero.arrow", "/dev/zero"), ("m", "/proc/self/mem")):
        (folder / name).symlink_to(there)
    return Command(["check", "folder"])


@register("text.pages-ask-through-record", Part.COMMAND, Expected(status=(0,), says="403 403 403 200"), deadline=30)
def pages_ask_the_recorded_server(place: Path, cookie: str) -> Command:
    """Pages of another site, one with a name that leads to this machine, one behind a program's request on the same
    connection, send requests to the REST side of `record`.
    """
    server = """
import http.server, subprocess, sys, threading
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=listener.serve_forever, daemon=True).start()
rest = f"127.0.0.1:{listener.server_port}"
words = ["record", "--upstream", "127.0.0.1:1", "--rest-upstream", rest, "--out", "said.log", "--", sys.executable]
sys.exit(subprocess.run([sys.executable, "-P", "-m", "conformance", *words, "page.py"]).returncode)
"""
    page = """
import http.client, os, urllib.parse
address = urllib.parse.urlsplit(os.environ["CONFORMANCE_REST"]).netloc
def ask(*requests):
    connection = http.client.HTTPConnection(address)
    for headers in requests:
        connection.request("POST", "/", b"{}", headers)
        answer = connection.getresponse()
        answer.read()
    return answer.status
page = {"Origin": "http://elsewhere.example"}
print(ask(page), ask({}, page), ask({"Host": "elsewhere.example"}), ask({}, {}))
"""
    (place / "server.py").write_text(server, encoding="utf-8")
    (place / "page.py").write_text(page, encoding="utf-8")
    return Command(["server.py"], program=[sys.executable, "-P"])


@register("disk.pack-of-links", Part.COMMAND, Expected(status=(2,), says="without links"))
def pack_of_links(place: Path, cookie: str) -> Command:
    """A recording of a truth pack is a link to a file of this machine, whose first bytes an error would print."""
    (place / "pack" / "recordings").mkdir(parents=True)
    (place / "pack" / "recordings" / "1.jsonl").symlink_to("/etc/passwd")
    return Command(["truth", "judge", "pack"])


@register("disk.plan-that-waits-longer-than-time", Part.COMMAND, Expected(status=(2,), says="at most 315576000000 sec"))
def plan_that_waits_longer_than_time(place: Path, cookie: str) -> Command:
    """A fault plan asks clients to wait for 10^300 seconds, which no message can say."""
    (place / "plan.json").write_text('{"faults": [{"kind": "status", "retry_after": 1e300}]}', encoding="utf-8")
    words = ["record", "--upstream", "127.0.0.1:1", "--out", "said.log", "--faults", "plan.json", "--", "true"]
    return Command(words)
