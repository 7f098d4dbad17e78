"""The group of commands: each module is imported when its command is called, and user errors end in one sentence.

Therefore ``check``, ``dissect``, ``explain`` and ``clauses`` run without gRPC, Hypothesis or any client library.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
import textwrap
import traceback
from collections.abc import Mapping
from typing import Any, Final

import click

import conformance
from conformance.cli._interrupts import Interrupted, orderly
from conformance.contain.text import safe, safe_lines

__all__ = ["COMMANDS", "EXIT_CODES", "Unusable", "cli"]

COMMANDS: Final[Mapping[str, str]] = {
    "run": "Judge a target and report what deviates.",
    "init": "Write the target file of your implementation.",
    "list": "List the cases, the clauses or the readers.",
    "show": "Show one case: its table, its steps, its purpose.",
    "clauses": "List the clauses with their levels and first sentences.",
    "explain": "Explain one clause: its requirement, its source, and which client breaks.",
    "replay": "Run one case on a target and print every byte of the exchange.",
    "extract": "Save the exchange of one case as files for other programs.",
    "check": "Judge Arrow messages, streams, files and tensors, without any server.",
    "read": "Judge readers of Arrow IPC in several languages.",
    "write": "Judge writers of Arrow IPC over their options.",
    "dissect": "Annotate every byte of Arrow data.",
    "serve": "Start the embedded reference server.",
    "prove": "Prove that every clause can fail, and that nothing legal fails.",
    "golden": "Regenerate the golden message pairs and vectors, or check them.",
    "campaign": "Judge millions of cases on Spark, with results in Parquet.",
    "judge": "Judge the stored exchanges of a campaign again.",
    "compare": "Compare two campaigns case by case.",
    "prepare": "Make the environment in which a target runs.",
    "expect": "Rewrite the expected failures of a target from a run.",
    "report": "Make reports from the log of an earlier run, or from the logs of its shards.",
    "diff": "Compare two reports: regressions, repairs, new and gone deviations.",
    "drift": "Compare versions of pyarrow on the same cases, written and read.",
    "matrix": "Combine reports into one table: implementations by clauses.",
    "freeze": "Freeze this version's clauses, or check them against the frozen ones.",
    "cases": "Check case files, or print their JSON Schema.",
}
"""Each command with its line in the help; its module is ``conformance.cli.<name>`` (``list_`` for ``list``)."""

EXIT_CODES: Final = """\
\b
Exit status:
  0    everything selected was judged, nothing unexpected
  1    findings, unexpected passes, stale expected failures
  2    the input cannot be used, or a file cannot be written: one sentence on stderr says what and why
  70   the suite itself failed: a defect of the suite, with a traceback on stderr
  130  interrupted before there was a verdict"""

_UNUSABLE: Final = (
    ("conformance.disk.locks", "InUseError"),
    ("conformance.records", "RecordError"),
    ("conformance.targets.errors", "TargetError"),
    ("conformance.engine.selection", "SelectionError"),
    ("conformance.engine.shards", "ShardError"),
    ("conformance.engine.merge", "MergeError"),
    ("conformance.engine.parallel", "PartError"),
    ("conformance.engine.log", "LogError"),
    ("conformance.report.reading", "ReportError"),
    ("conformance.report.matrix", "MatrixError"),
    ("conformance.engine.requirements", "FrozenError"),
    ("conformance.drift.versions", "DriftError"),
    ("conformance.generate.casefile", "CaseFileError"),
    ("conformance.generate.vectors", "VectorError"),
)
"""Exceptions that say what is wrong with the user's input, by name: most commands need few of these modules."""

_EXTRAS: Final = {"pyspark": "run,readers,spark"}
"""The extras that provide a missing package, if they are not the extras of all other commands."""


class Unusable(click.ClickException):
    """Input that cannot be used; the message is one sentence. Exit status 2."""

    exit_code = 2


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


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Every command, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # as above
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"conformance.cli.{cmd_name}{'_' if cmd_name == 'list' else ''}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # as above
        """The list of commands, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error that the user can fix ends in one sentence and status 2, an interrupt ends in
        order.
        """
        try:
            with orderly():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("conformance"):
                raise
            extras = _EXTRAS.get(error.name.partition(".")[0], "run,readers")
            raise Unusable(
                f"this command needs {error.name}, which is not installed;"
                f" install it with: pip install 'arrow-conformance[{extras}]'"
            ) from error
        except click.ClickException as error:
            # The message may quote a file's name or a program's output.
            error.message = safe(error.message)  # type: ignore[misc]  # click has no other way to change a message
            raise
        except Exception as error:
            if isinstance(error, click.exceptions.Exit | click.Abort | BrokenPipeError):
                raise
            if _is_unusable(error):
                raise Unusable(_sentence(error)) from error
            raise SuiteBrokeError(error) from error
        finally:
            if sentence := _unprinted():
                raise Unusable(sentence)


def _sentence(error: Exception) -> str:
    # Errors of the suite's own files have a file name; an error of a full disk without one is about standard output.
    if isinstance(error, OSError) and error.filename is None and error.errno in _NO_ROOM:
        return f"standard output: cannot be written: {error.strerror}"
    return safe(str(error))


_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _unprinted() -> str:
    """A sentence if printed output cannot be written, else empty; without this, Python would fail at its exit."""
    if sys.stdout is None:  # closed by the parent process
        return ""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return ""
    except OSError as error:
        # Python flushes standard output again at its exit, which would fail and print a second error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return f"standard output: cannot be written: {error.strerror or error}"
    return ""


@click.group(
    cls=LazyGroup,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(conformance.__version__, prog_name="conformance")
def cli() -> None:
    """The conformance suite for the BigQuery Storage Read API and the Arrow bytes under it.

    \b
    Judge the embedded reference server, then yours:
      conformance run
      conformance run --target mine.toml --html report.html
    Look at one failure, byte by byte:
      conformance explain framing.batch-single-message
      conformance replay CASE --target mine.toml
    No server at hand, only bytes:
      conformance check --schema schema.bin --batch batch.bin
    """  # noqa: D301  # click wants the character, not the escape
