"""``conformance init``: write the target file of a new implementation, from options or by asking."""

from __future__ import annotations

import dataclasses
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from conformance.cli._group import Unusable
from conformance.cli._interrupts import Interrupted
from conformance.cli._options import FILE
from conformance.contract.offers import optional
from conformance.disk.files import write_new, write_whole
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import RecordError, from_json
from conformance.targets.drafting import target_text
from conformance.targets.endpoint import Tls, Token
from conformance.targets.environmentspec import INSTALLS, EnvironmentSpec, summary
from conformance.targets.spec import (
    OVER_REST,
    PROJECT,
    Endpoint,
    Preloaded,
    Ready,
    Seed,
    SeedPath,
    SerializerSpec,
    Start,
    TargetKind,
    TargetSpec,
    target_kinds,
)
from conformance.targets.specfile import parse_target

KINDS: Final = target_kinds()
NONE: Final = "none"
SEEDS: Final = {
    "rest": (SeedPath.REST,),
    "sql": (SeedPath.SQL,),
    "both": (SeedPath.REST, SeedPath.SQL),
    "load": (SeedPath.LOAD,),
    "load-avro": (SeedPath.LOAD_AVRO,),
    "program": (SeedPath.PROGRAM,),
    "preloaded": (SeedPath.PRELOADED,),
    NONE: (),
}
"""The ways in which a server takes rows, each with the paths of ``[seed]``."""
TABLES: Final = "tables"
"""The directory of preloaded tables, unless the user names another."""

WITHOUT_REST: Final = (
    "expected a way to make the table of each case: BigQuery's REST API, or without it --seed program or preloaded;"
    " without any, use --kind program, which judges the messages that your server would send (docs/serializers.md),"
    " or --grpc, with which only the cases run that need no table"
)
ENDPOINT: Final = ("tls", "ca", "token_command", "token_variable")
"""The options on TLS and tokens; of these, only TLS is asked for."""
SERVERS: Final = (
    "grpc",
    "rest",
    "grpc_event",
    "rest_event",
    "ready_path",
    "project",
    "seed",
    "seed_program",
    "tables",
    *ENDPOINT,
)
"""The options on servers alone."""
LISTED: Final = "/bigquery/v2/projects/{project}/datasets"
"""datasets.list, which every server with tables has: it answers as soon as REST serves."""


@dataclasses.dataclass(frozen=True, slots=True)
class GivenAnswers:
    """The values of the options; each that is missing is asked for, or has its default where nobody can be asked."""

    given: dict[str, Any]
    asking: bool

    def of(self, option: str, question: str, default: str, **more: Any) -> str:
        """The value of an option, the answer to its question, or the default."""
        if self.given[option] is not None:
            return str(self.given[option])
        if not self.asking:
            return default
        return str(_asked(lambda: click.prompt(question, default=default, err=True, **more)))


def _asked(ask: Callable[[], Any]) -> Any:
    """The answer to a question; an interrupt there ends the command like one anywhere else."""
    try:
        return ask()
    except click.Abort:
        raise Interrupted("nothing was written") from None


def _names(question: str) -> tuple[str, ...]:
    """The names in the answer to a question."""
    listed = _asked(lambda: click.prompt(question, default="", show_default=False, err=True))
    return tuple(listed.replace(",", " ").split())


@click.command()
@click.argument("file", metavar="[FILE]", type=FILE, required=False)
@click.option("--name", help="The target's name; by default that of the current directory.")
@click.option("--kind", type=click.Choice(KINDS), help="What is judged; a server by default.")
@click.option(
    "--command",
    "start",
    metavar="WORDS",
    help="The command that starts it, as in a shell; {grpc_port} and {rest_port} stand for its ports.",
)
@click.option("--grpc", metavar="HOST:PORT", help="The gRPC address of a server that runs already.")
@click.option("--rest", metavar="URL", help="The address of its REST API.")
@click.option("--tls", is_flag=True, default=None, help="The gRPC address speaks TLS.")
@click.option("--ca", metavar="FILE", help="It speaks TLS with a certificate that this authority signed (PEM).")
@click.option("--token-command", metavar="WORDS", help="The command that prints the token of every request.")
@click.option("--token-variable", metavar="NAME", help="The environment variable that holds the token.")
@click.option("--grpc-event", metavar="EVENT", help="The JSON event in which a started server reports its gRPC port.")
@click.option("--rest-event", metavar="EVENT", help="The event that reports its REST port.")
@click.option("--ready-path", metavar="PATH", help=f"A path that answers 2xx once REST serves; by default {LISTED}.")
@click.option("--project", metavar="ID", help="The project that the cases read from; by default test-project.")
@click.option(
    "--seed",
    type=click.Choice([*SEEDS]),
    help="How it takes rows. Over REST: insertAll (rest, the default), INSERT through jobs.query (sql), both, load jobs"
    " of Parquet (load) or Avro (load-avro). Without REST: through a program, or preloaded. Or none.",
)
@click.option(
    "--seed-program", metavar="WORDS", help="The program that makes each table; by default the started server itself."
)
@click.option("--tables", metavar="DIR", help=f"What `conformance tables --out DIR` wrote; by default {TABLES}.")
@click.option("--entry", metavar="MODULE[:OBJECT]", help="The two functions of a serializer in Python.")
@click.option("--capability", metavar="NAME", multiple=True, help="An optional capability; may be repeated.")
@click.option(
    "--not-offered",
    metavar="PROFILE",
    multiple=True,
    help="A part of the service that the server does not offer, by `conformance list profiles`; may be repeated.",
)
@click.option(
    "--install",
    metavar="KEY=PACKAGE",
    multiple=True,
    help=f"A package that it needs: KEY is {', '.join(INSTALLS)} or interpreter; may be repeated.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def command(
    *,
    file: Path | None,
    force: bool,
    capability: tuple[str, ...],
    not_offered: tuple[str, ...],
    install: tuple[str, ...],
    **given: Any,
) -> None:
    """Write the target file of your implementation, which every --target takes.

    \b
    conformance init                                                        asks
    conformance init --command 'my-server --port {rest_port} --grpc {grpc_port}'
    conformance init --grpc localhost:9060 --rest http://localhost:9050     a server that runs already
    conformance init --grpc far:443 --rest https://far --tls --token-variable TOKEN
    conformance init --kind program --command 'python adapter.py'
    conformance init --kind program --install go=./server --command '{env_bin}/server'
    conformance init --entry my_module

    With --command, --grpc or --entry it asks nothing, and each option that is missing has its default. FILE is
    NAME.toml by default. Exit status: 0, or 2 if the answers make no target or FILE exists.
    """  # noqa: D301  # click wants the character, not the escape
    for option in ("start", "grpc", "entry", "ca", "token_command", "token_variable"):
        if given[option] == "":  # as of a shell's variable that is not set: it would mean that nothing was said
            raise Unusable(f"{_shown(option)}: expected a value, got an empty one")
    decided = any(given[option] is not None for option in ("start", "grpc", "entry"))
    if not decided and not sys.stdin.isatty():
        raise Unusable("expected --command, --grpc or --entry, because standard input is no terminal to ask at")
    answers = GivenAnswers(given, asking=not decided)
    spec = dataclasses.replace(_spec(answers, capability, not_offered), environment=_environment(install))
    file = file or Path(f"{spec.name}.toml")
    text = target_text(spec)
    parse_target(text.encode("utf-8", "backslashreplace").decode(), file)
    try:
        (write_whole if force else write_new)(file, text)
    except FileExistsError:
        what = "is a link" if file.is_symlink() else "exists"
        said = f"{file}: expected a new file, but it {what}; name another one, or replace it with --force"
        raise Unusable(said) from None
    shown = shlex.quote(str(file))
    if given["name"] is None and not answers.asking:
        click.echo(f"the target is named {spec.name}, as this directory is; --name gives it another name", err=True)
    if spec.environment is not None:
        click.echo(f"{file} is written; install {summary(spec.environment)}:")
        click.echo(f"  conformance prepare --target {shown}")
        click.echo("Then judge the target with one case, then with all of them:")
    else:
        click.echo(f"{file} is written; judge the target with one case, then with all of them:")
    click.echo(f"  conformance run --target {shown} --select types.int64")
    click.echo(f"  conformance run --target {shown}")


def _spec(answers: GivenAnswers, capabilities: tuple[str, ...], not_offered: tuple[str, ...]) -> TargetSpec:
    entry = answers.given["entry"]
    likely = TargetKind.SERIALIZER if entry is not None else TargetKind.SERVER
    kind = answers.of("kind", "What is judged", likely.value, type=click.Choice(KINDS))
    common: dict[str, Any] = {"kind": kind}
    match kind:
        case TargetKind.SERIALIZER:
            _refuse(answers, kind, "start", *SERVERS)
            module = answers.of("entry", "Module with the two functions, or module:object", "serializer")
            common["serializer"] = SerializerSpec(module, (".",))
        case TargetKind.PROGRAM:
            _refuse(answers, kind, "entry", *SERVERS)
            common["start"] = Start(_words(answers.of("start", "Command that starts it", "")))
        case TargetKind.SERVER:
            _refuse(answers, kind, "entry")
            common |= _server(answers)
    if answers.asking and kind != TargetKind.PROGRAM and not capabilities:
        capabilities = _names("Optional capabilities, for example zero-columns")
    if answers.asking and kind == TargetKind.SERVER and not not_offered:
        not_offered = _names(f"Parts of the service that it does not offer, of {', '.join(optional(DEFAULT_PROTOCOL))}")
    name = answers.of("name", "Name of the target", _name_of(Path.cwd()))
    return TargetSpec(name, capabilities=capabilities, not_offered=not_offered, **common)


def _environment(install: tuple[str, ...]) -> EnvironmentSpec | None:
    """The environment with the packages of ``--install``; None if there are none."""
    given: dict[str, Any] = {}
    for one in install:
        key, equals, entry = one.partition("=")
        if equals and key == "interpreter":
            given[key] = entry
        elif equals and key in INSTALLS:
            given[key] = [*given.get(key, ()), entry]
        else:
            keys = ", ".join(INSTALLS)
            raise Unusable(f"--install: expected KEY=PACKAGE, with KEY {keys} or interpreter, got {one!r}")
    try:
        return from_json(EnvironmentSpec, given, path="target.environment") if given else None
    except RecordError as error:
        raise Unusable(f"--install: {error}") from None


def _server(answers: GivenAnswers) -> dict[str, Any]:
    """The tables of a server: one that the suite starts, or one that runs already."""
    given = answers.given
    question = "Command that starts it, with {grpc_port} and {rest_port} for its ports; empty if it runs already"
    words = "" if given["grpc"] is not None and given["start"] is None else answers.of("start", question, "")
    project = answers.of("project", "Project that the cases read from", PROJECT)
    likely = "program" if given["seed_program"] else "preloaded" if given["tables"] else "rest"
    seed = answers.of("seed", "How it takes rows", likely, type=click.Choice([*SEEDS]))
    over_rest = not OVER_REST.isdisjoint(SEEDS[seed])
    if seed == NONE and words:
        raise Unusable(WITHOUT_REST)
    tables: dict[str, Any] = {"project": project, "seed": _seed(answers, seed)}
    if words:
        _refuse(answers, "server that the suite starts", "grpc", "rest", *ENDPOINT)
        return tables | {"start": Start(_words(words)), "ready": _ready(answers, words, over_rest=over_rest)}
    return tables | _running(answers, seed, over_rest=over_rest)


def _running(answers: GivenAnswers, seed: str, *, over_rest: bool) -> dict[str, Any]:
    """The tables of a server that runs already."""
    given = answers.given
    _refuse(answers, "server that runs already", "grpc_event", "rest_event")
    grpc = answers.of("grpc", "Its gRPC address", "localhost:9060")
    if seed == NONE:
        _refuse(answers, "server without REST", "rest", "ready_path")
    if seed == "program" and given["seed_program"] is None and not answers.asking:
        raise Unusable("expected --seed-program for a server that runs already, which reads no tables from the suite")
    speaks_tls = bool(given["tls"] or given["ca"]) or _says_tls(answers)
    default = f"{'https' if speaks_tls else 'http'}://localhost:9050"
    rest = given["rest"] or "" if not over_rest else answers.of("rest", "The address of its REST API", default)
    ready = Ready(rest_path=given["ready_path"] or "")
    tls = Tls(ca=given["ca"] or "") if speaks_tls else None
    command, variable = given["token_command"], given["token_variable"]
    token = Token(_words(command or "", "token-command"), variable=variable or "") if command or variable else None
    return {"endpoint": Endpoint(grpc, rest, tls=tls, token=token), "ready": ready}


def _seed(answers: GivenAnswers, seed: str) -> Seed:
    """The table ``[seed]`` of one way of taking rows."""
    if seed != "program":
        _refuse(answers, f"server with --seed {seed}", "seed_program")
    if seed != "preloaded":
        _refuse(answers, f"server with --seed {seed}", "tables")
    if seed == "program":
        words = answers.of("seed_program", "Program that makes each table; empty if the started server does", "")
        return Seed(SEEDS[seed], program=Start(_words(words, "seed-program")) if words else None)
    if seed == "preloaded":
        folder = answers.of("tables", "Directory that `conformance tables --out` wrote", TABLES)
        return Seed(SEEDS[seed], preloaded=Preloaded(folder))
    return Seed(SEEDS[seed]) if SEEDS[seed] else Seed()


def _says_tls(answers: GivenAnswers) -> bool:
    """Whether the user says that the server speaks TLS; nobody who cannot be asked does."""
    return answers.asking and bool(_asked(lambda: click.confirm("Does it speak TLS", default=False, err=True)))


def _ready(answers: GivenAnswers, words: str, *, over_rest: bool) -> Ready:
    """How the suite learns the ports of a started server, and that it serves; one without REST says its gRPC port."""
    if not over_rest and "{rest_port}" not in words and answers.given["rest_event"] is None:
        return Ready(rest_path=answers.given["ready_path"] or "", grpc_event=_event(answers, "grpc", words))
    rest_event = _event(answers, "rest", words)
    path = answers.of("ready_path", "Path that answers 2xx once REST serves", "" if rest_event else LISTED)
    return Ready(rest_path=path, grpc_event=_event(answers, "grpc", words), rest_event=rest_event)


def _event(answers: GivenAnswers, side: str, words: str) -> str:
    """The event that reports a port; none is needed if the command takes the port."""
    default = f"{side}.listen" if answers.asking and f"{{{side}_port}}" not in words else ""
    if not default:
        return answers.given[f"{side}_event"] or ""
    question = f"The command has no {{{side}_port}}; event in which the server prints that port as JSON"
    return answers.of(f"{side}_event", question, default)


def _words(text: str, option: str = "command") -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise Unusable(f"--{option}: expected words as in a shell, got {text!r}: {error}") from None


def _refuse(answers: GivenAnswers, kind: str, *options: str) -> None:
    """Refuse options that would change nothing for this kind of target."""
    for option in options:
        if answers.given[option] is not None:
            raise Unusable(f"expected no {_shown(option)} for a {kind}, got {answers.given[option]!r}")


def _shown(option: str) -> str:
    """An option as a user writes it."""
    return f"--{'command' if option == 'start' else option.replace('_', '-')}"


def _name_of(folder: Path) -> str:
    """The name of a directory as the name of a target."""
    return re.sub(r"[^a-z0-9._-]+", "-", folder.name.lower()).strip("._-")[:100] or "mine"
