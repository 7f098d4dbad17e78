"""Options and path types that several commands share, each with one name and one help text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from conformance.cli._numbers import ATTEMPTS, CASES
from conformance.disk.pipes import kept
from conformance.protocol import DEFAULT_PROTOCOL, Plugin, protocol_names, takes_part, title_of
from conformance.records import Level

if TYPE_CHECKING:
    from conformance.readers.programs.backend import Backend

__all__ = [
    "DRAWN",
    "EXISTING",
    "FILE",
    "FOLDER",
    "WrittenFile",
    "chosen_readers",
    "clause_option",
    "data_format_option",
    "drawn_options",
    "json_flag",
    "level_option",
    "protocol_options",
    "readers_option",
    "repeat_option",
    "secure_backend",
    "select_option",
    "shard_option",
    "smoke_option",
]

F = TypeVar("F", bound=Callable[..., Any])


class _Readable(click.Path):
    """A file to read. What comes through a pipe is read here, once, so that no command waits for it without end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            return kept(path)
        except OSError as error:
            self.fail(f"{path}: {error.strerror}", param, ctx)


class WrittenFile(click.Path):
    """A file that the command writes: one that no other parameter of it names."""


EXISTING: Final = _Readable(exists=True, dir_okay=False, path_type=Path)
"""A file to read."""
FILE: Final = WrittenFile(dir_okay=False, path_type=Path)
"""A file to write."""
FOLDER: Final = click.Path(file_okay=False, path_type=Path)
"""A directory, created if it does not exist."""


def select_option(things: str) -> Callable[[F], F]:
    """``--select``, for ``things`` that have ids."""
    help_ = f"Only {things} whose id matches; may be repeated."
    return click.option("--select", metavar="GLOB", multiple=True, help=help_)


def shard_option(things: str) -> Callable[[F], F]:
    """``--shard``, for ``things`` that have ids."""
    help_ = f"Put only shard I of N of the {things}, by a hash of the id; `report` merges the logs."
    return click.option("--shard", metavar="I/N", help=help_)


def repeat_option(thing: str) -> Callable[[F], F]:
    """``--repeat``, the number of attempts at each ``thing``."""
    help_ = f"Put each {thing} N times, and say which failures occur only sometimes."
    return click.option("--repeat", metavar="N", type=ATTEMPTS, default=1, show_default=True, help=help_)


def smoke_option(things: str) -> Callable[[F], F]:
    """``--smoke``, which three plain ``things`` decide."""
    help_ = f"End early if no row comes for three plain {things}, which are put first."
    return click.option("--smoke/--no-smoke", default=True, show_default=True, help=help_)


def protocol_options(kind: type[Plugin], help_text: str) -> Callable[[F], F]:
    """A flag for each protocol but the default one that takes part in a layer, as the argument ``protocol``.

    ``{title}`` in the help text is replaced by the name of the protocol.
    """

    def add(function: F) -> F:
        for name in protocol_names()[:0:-1]:
            if takes_part(kind, name):
                words = help_text.format(title=title_of(name))
                function = click.option(f"--{name}", "protocol", flag_value=name, help=words)(function)
        # click 8.1 takes the flag with a default for the one that is set: the default protocol needs a flag too.
        name = DEFAULT_PROTOCOL
        return click.option(f"--{name}", "protocol", flag_value=name, default=True, hidden=True)(function)

    return add


def json_flag(words: str) -> Callable[[F], F]:
    """``--json`` of a command that prints JSON instead of text, as the argument ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help=words)


DRAWN: Final = 50
"""The generated cases, and the scenarios, of a run that selects nothing: they cost a few seconds."""


def drawn_options(function: F) -> F:
    """``--cases`` and ``--scenarios`` of a run; None where they were not given."""
    function = click.option(
        "--scenarios",
        metavar="N",
        type=CASES,
        default=None,
        show_default=f"{DRAWN}; 0 with --select, --capability or --corpus",
        help="Add N scenarios: drawn histories of calls in which features meet.",
    )(function)
    return click.option(
        "--cases",
        "generated",
        metavar="N",
        type=CASES,
        default=None,
        show_default=f"{DRAWN}; 0 with --select, --capability or --corpus",
        help="Add N generated cases.",
    )(function)


def data_format_option(function: F) -> F:
    """``--data-format`` of a run, as the argument ``form``."""
    from conformance.generate.forms import BASE, EVERY, form_names  # noqa: PLC0415  # it loads protocols

    return click.option(
        "--data-format",
        "form",
        type=click.Choice([*form_names(), EVERY]),
        default=BASE,
        show_default=True,
        help="Put each case, drawn ones too, in this format of rows, or in all of them. A case in another format than"
        " arrow has an id such as CASE@avro.",
    )(function)


clause_option = click.option(
    "--clause", metavar="GLOB", multiple=True, help="Only clauses whose id matches; may be repeated."
)

level_option = click.option(
    "--level",
    type=click.Choice([level.value for level in Level]),
    default=Level.MAY.value,
    show_default=True,
    help="Judge clauses of this level and of more binding ones.",
)

_readers_switch = click.option(
    "--readers/--no-readers", default=True, show_default=True, help="Let real clients and decoders read the data too."
)


def readers_option(function: F) -> F:
    """Give a command the options ``--readers`` and ``--reader``."""
    one = click.option(
        "--reader",
        metavar="GLOB",
        multiple=True,
        help="Only readers whose name matches, clients in other languages too; may be repeated. See `list readers`.",
    )
    return _readers_switch(one(function))


def secure_backend() -> Backend:
    """The servers of a client program that reads over TLS alone; raises Unavailable if there is no openssl."""
    from conformance.clients.replayed import ReplayBackend  # noqa: PLC0415  # only such a client needs it

    return ReplayBackend()


def chosen_readers(globs: tuple[str, ...]) -> tuple[str, ...]:
    """The readers that the globs of ``--reader`` name; a client that is not built here is said once.

    Raises:
        click.UsageError: a glob matches no reader.
    """
    if not globs:
        return ()
    from conformance.readers.registry import absent_clients, matching_readers  # noqa: PLC0415  # only a run needs it

    try:
        names = matching_readers(globs)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for program, why in absent_clients(names).items():
        click.echo(f"{program}: not here, {why}", err=True)
    return names
