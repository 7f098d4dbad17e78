"""The group of commands: each module is imported when its command is called, and user errors end in one sentence.

Therefore ``check``, ``dissect``, ``explain`` and ``clauses`` run without gRPC, Hypothesis or any client library.
"""

from __future__ import annotations

import difflib
import errno
import importlib
import os
import sys
import textwrap
import time
import traceback
from typing import Any, Final

import click

import conformance
from conformance.cli._formatting import HelpContext, dressed
from conformance.cli._help import COMMANDS, GROUPS, RARE, missing, usage
from conformance.cli._interrupts import Interrupted, orderly
from conformance.cli._project import defaults_of
from conformance.contain.limits import address_space, data_space
from conformance.contain.secrets import masked_in_addresses
from conformance.contain.text import safe, safe_lines
from conformance.protocol import protocol_names, title_of

__all__ = ["COMMANDS", "EXIT_CODES", "Unusable", "cli"]

EXIT_CODES: Final = """\
\b
Exit status:
  0    everything selected was judged, nothing unexpected
  1    findings, unexpected passes, stale expected failures
  2    the input cannot be used, or a file cannot be written: one sentence on stderr says what and why
  70   the suite itself failed: a defect of the suite, with a traceback on stderr
  130  interrupted before there was a verdict"""

_UNUSABLE: Final = (
    ("conformance.cli._project", "ProjectFileError"),
    ("conformance.disk.locks", "InUseError"),
    ("conformance.history", "HistoryError"),
    ("conformance.protocol", "NotInLayerError"),
    ("conformance.records", "RecordError"),
    ("conformance.targets.targeterrors", "TargetError"),
    ("conformance.engine.selection", "SelectionError"),
    ("conformance.engine.shards", "ShardError"),
    ("conformance.engine.merge", "MergeError"),
    ("conformance.engine.parallel", "PartError"),
    ("conformance.engine.log", "LogError"),
    ("conformance.readers.ipc.adapters", "AdapterError"),
    ("conformance.report.reading", "ReportError"),
    ("conformance.report.gatefile", "GateError"),
    ("conformance.report.matrixtable", "MatrixError"),
    ("conformance.report.statementpage", "StatementError"),
    ("conformance.engine.requirements", "FrozenError"),
    ("conformance.drift.versions", "DriftError"),
    ("conformance.generate.casefile", "CaseFileError"),
    ("conformance.generate.vectors", "VectorError"),
    ("conformance.truth.pack", "PackError"),
    ("conformance.truth.references", "UnresolvedError"),
)
"""Exceptions that say what is wrong with the user's input, by name: most commands need few of these modules."""


ADDRESS_SPACE: Final = 2 << 30
"""The address space in bytes that a command needs. gRPC, Arrow and numpy reserve far more than they use: with 0.9 GiB
they abort, and with 1.5 GiB the processes of readers do not start.
"""
_LIGHT: Final = frozenset(
    {"cases", "clauses", "diff", "dissect", "explain", "gate", "list", "matrix", "report", "show", "statement"}
)
"""The commands that start no process and speak to no server: half of that is enough."""
_NO_DOCSTRINGS: Final = 2
_NO_THREAD: Final = "can't start new thread"
"""The text of Python's error where the system has no room for a thread; it has no class of its own."""
_EVERYTHING: Final = "conformance.everything"
_NOWHERE: Final = "the current directory no longer exists; change to one that does"


class Unusable(click.ClickException):
    """Input that cannot be used; the message is one sentence, and quotes no password of an address. Exit status 2."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(masked_in_addresses(message))


class SuiteBrokeError(click.ClickException):
    """A defect of the suite itself, with its traceback, which may quote foreign text. Exit status 70, as in
    sysexits.h.
    """

    exit_code = 70

    def __init__(self, error: Exception) -> None:
        super().__init__("the suite itself broke; please report it with the lines above")
        self._lines = safe_lines("".join(traceback.format_exception(error)).rstrip())

    def show(self, file: Any = None) -> None:
        """Print the traceback with a prefix, so that no build tool takes a line of it for its own output."""
        click.echo(textwrap.indent(self._lines, "  | "), file=file, err=True)
        super().show(file)


def _is_unusable(error: Exception) -> bool:
    """True if ``error`` blames the input; a class whose module is not loaded cannot have been raised."""
    kinds = [getattr(sys.modules[module], name) for module, name in _UNUSABLE if module in sys.modules]
    return isinstance(error, (OSError, *kinds)) and not isinstance(error, BrokenPipeError)


def _check_surroundings(command: str) -> None:
    """Refuse a Python without docstrings, a clock that Python cannot read, a current directory that was removed, and
    less memory than the libraries of a command reserve: they would abort.

    Raises:
        Unusable: the command cannot work here.
    """
    if sys.flags.optimize >= _NO_DOCSTRINGS:
        raise Unusable(
            "Python leaves out docstrings (-OO, or PYTHONOPTIMIZE=2), and the texts of clauses are docstrings"
        )
    try:
        time.time()
    except OverflowError:
        raise Unusable("the clock of this machine shows a year after 2262, which Python cannot count; set it") from None
    if command not in _LIGHT and not _is_somewhere():
        raise Unusable(_NOWHERE)
    needed = ADDRESS_SPACE // 2 if command in _LIGHT else ADDRESS_SPACE
    # Half of that is code, files and what is reserved and never written.
    for have, wanted, what in (
        (address_space(), needed, "address space, and this process may have {} MiB (ulimit -v)"),
        (data_space(), needed // 2, "memory to write, and this process may have {} MiB (ulimit -d)"),
    ):
        if have < wanted:
            raise Unusable(f"`{command}` needs {wanted >> 20} MiB of {what.format(f'{have / (1 << 20):.0f}')}")


def _is_somewhere() -> bool:
    """False if the current directory was removed: the system still has it, and no file can be made in it."""
    try:
        return bool(os.getcwd())  # noqa: PTH109  # Path.cwd() is the same call
    except OSError:
        return False


class CommandContext(HelpContext):
    """The context of a command, no output of which replaces an input or another output."""

    def invoke(self, callback: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function of the command with its arguments."""
        if callback is self.command.callback:
            from conformance.cli._distinct import not_distinct  # noqa: PLC0415  # the help of the group needs none

            if wrong := not_distinct(self.command.params, self.params):
                raise Unusable(wrong)
        return super().invoke(callback, *args, **kwargs)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Every command, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # as above
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        _check_surroundings(cmd_name)
        from conformance._pandas import leave_pandas_out  # noqa: PLC0415  # it imports pyarrow

        leave_pandas_out()
        module = importlib.import_module(
            f"conformance.cli.{cmd_name.replace('-', '_')}{'_' if cmd_name == 'list' else ''}"
        )
        return dressed(module.command, CommandContext)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names; for an unknown one, the error names similar ones."""
        if args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS)
            raise Unusable(usage(f"no such command: {args[0]!r}", ctx.command_path, near=near))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in groups, without importing one; those that few users need in a line, unless all are wanted."""
        width = max(map(len, COMMANDS))
        everything = ctx.meta.get(_EVERYTHING)
        for heading, commands in GROUPS.items():
            if heading not in RARE or everything:
                with formatter.section(heading):
                    formatter.write_dl([(f"{name:<{width}}", text) for name, text in commands.items()])
        if not everything:
            names = ", ".join(name for heading in RARE for name in GROUPS[heading])
            with formatter.section("For specialists"):
                formatter.write_dl([("conformance --help-all", names)])

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the options before the command; a wrong one ends in one sentence, as those of the commands do.

        Without any argument, the help is what is asked for.
        """
        try:
            return super().make_context(info_name, args or ["--help"], parent, **extra)
        except click.UsageError as error:
            raise _one_sentence(error, info_name or "conformance") from error
        except BrokenPipeError:  # from --help and --version, which print at once
            raise _unread() from None
        except OSError as error:
            raise Unusable(_unprinted() or _sentence(error)) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error that the user can fix ends in one sentence and status 2, an interrupt ends in
        order.
        """
        try:
            with orderly():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None
        except BrokenPipeError:
            raise _unread() from None
        except click.UsageError as error:
            raise _one_sentence(error, f"{ctx.command_path} {ctx.invoked_subcommand or ''}".rstrip()) from error
        except click.ClickException as error:
            # The message may quote a file's name or a program's output.
            error.message = safe(error.message)  # type: ignore[misc]  # click has no other way to change a message
            raise
        except Exception as error:
            if isinstance(error, click.exceptions.Exit | click.Abort):
                raise
            raise _ending(error) from error
        finally:
            if sentence := _unprinted():
                raise Unusable(sentence)


def _ending(error: Exception) -> Exception:
    """The error with which a command ends that ``error`` ended: an interrupt, one of the user's, or a defect of the
    suite.
    """
    if _is_of_an_interrupt(error):
        return Interrupted()
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("conformance"):
        return Unusable(missing(error.name))
    if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
        return Unusable("no more threads can be started: raise the limit on processes (ulimit -u), or end some")
    return Unusable(_sentence(error)) if _is_unusable(error) else SuiteBrokeError(error)


def _is_of_an_interrupt(error: BaseException) -> bool:
    """True for an interrupt and for an error that it became.

    Python 3.11 turns what ``__set_name__`` raises, while a class is made at an import, into a ``RuntimeError``.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, KeyboardInterrupt):
            return True
        seen = seen.__cause__
    return False


def _one_sentence(error: click.UsageError, command: str) -> Unusable:
    """A usage error of ``command`` without the lines that click prints above it (docs/exit-codes.md)."""
    if isinstance(error, click.NoSuchOption):
        return Unusable(
            safe(usage(f"no such option: {error.option_name}", command, near=(error.possibilities or [])[:2]))
        )
    return Unusable(safe(usage(error.format_message(), command)))


def _sentence(error: Exception) -> str:
    # Errors of the suite's own files have a file name; an error of a full disk without one is about standard output.
    if isinstance(error, OSError) and error.filename is None and error.errno in _NO_ROOM:
        return f"standard output: cannot be written: {error.strerror}"
    if isinstance(error, OSError) and error.errno == errno.ENOENT and not _is_somewhere():
        return _NOWHERE
    if type(error).__str__ is OSError.__str__ and isinstance(error, OSError) and error.filename and error.strerror:
        return safe(f"{os.fsdecode(error.filename)}: {error.strerror}")
    return safe(str(error))


_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _unread() -> click.exceptions.Exit:
    """The end of a command whose output nobody reads on, as behind ``| head``: without words, as somebody wanted it."""
    _forget_output()
    return click.exceptions.Exit(2)


def _forget_output() -> None:
    """Let what is left for standard output go nowhere: Python flushes it at its exit, which would print an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unprinted() -> str:
    """A sentence if printed output cannot be written, else empty; without this, Python would fail at its exit."""
    if sys.stdout is None:  # closed by the parent process
        return ""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return ""
    except OSError as error:
        _forget_output()
        return f"standard output: cannot be written: {error.strerror or error}"
    return ""


_HELP: Final = """Test servers of {protocols}, their clients, and Arrow IPC libraries.

\b
Judge the embedded reference server, then yours:
  conformance run
  conformance run --target 'grpc://localhost:9060?rest=http://localhost:9050'
  conformance init
  conformance run --target mine.toml --html report.html
Look at one failure, byte by byte:
  conformance explain framing.batch-single-message
  conformance replay CASE --target mine.toml
No server at hand, only bytes:
  conformance check data.arrow
  conformance check --schema schema.bin --batch batch.bin
"""
"""The protocols are named as their folders name them."""


def _help_all(context: click.Context, _parameter: click.Parameter, given: bool) -> None:  # noqa: FBT001  # click's signature
    if given:
        context.meta[_EVERYTHING] = True
        click.echo(context.get_help())
        context.exit()


@click.group(
    cls=LazyGroup,
    help=_HELP.format(protocols=" and of ".join(map(title_of, protocol_names()))),
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(conformance.__version__, prog_name="conformance")
@click.option(
    "--help-all",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help_all,
    help="Show this message with all commands, and exit.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """The command, whose commands are imported when they are called."""
    command = ctx.invoked_subcommand or ""
    ctx.default_map = {command: defaults_of(command)}
