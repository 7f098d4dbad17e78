"""The command line's texts about itself: the commands in groups, usage errors as one sentence, missing packages."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["COMMANDS", "GROUPS", "RARE", "missing", "usage"]

GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "Start here": {
        "init": "Write the target file of your implementation.",
        "run": "Judge a target and report what deviates.",
        "explain": "Explain one clause, or one cause of a run.",
        "replay": "Run one case, and print every byte of the exchange.",
        "report": "Make reports from the log of a run, or from those of shards.",
        "completion": "Print the script with which a shell completes commands.",
    },
    "Bytes, without a server": {
        "check": "Judge Arrow messages, streams, files and tensors.",
        "dissect": "Annotate every byte of Arrow data.",
    },
    "Readers, writers and clients": {
        "read": "Judge readers of Arrow IPC in several languages.",
        "write": "Judge writers of Arrow IPC over their options.",
        "clients": "Judge clients of the service in several languages.",
        "drift": "Compare versions of pyarrow as writers and as readers.",
    },
    "Look up cases and clauses": {
        "list": "List the cases, clauses, targets, readers or writers.",
        "show": "Show one case: its table, its steps, its purpose.",
        "clauses": "List the clauses with their levels and first sentences.",
    },
    "Compare runs, and publish them": {
        "diff": "Compare reports: regressions, repairs, checks that ran.",
        "gate": "Write what held in each of several runs, to lose none of it.",
        "expect": "Rewrite the expected failures of a target from a run.",
        "matrix": "Combine reports into one table: implementations by clauses.",
        "statement": "Write the page that a vendor signs, on what a run judged.",
        "verify": "Count a statement again from its log and its report.",
    },
    "Record, and prepare a target": {
        "record": "Record what a client and a server say, and judge it.",
        "replay-server": "Serve recorded exchanges again, to clients in any language.",
        "extract": "Save the exchange of one case as files for other programs.",
        "history": "Find anomalies in the rows that sessions returned.",
        "truth": "Make, judge and check packs of what the service did.",
        "tables": "Write the tables of the cases, to load them beforehand.",
        "prepare": "Make the environment in which a target runs.",
    },
    "Millions of cases, on Spark": {
        "campaign": "Judge millions of cases on Spark, with results in Parquet.",
        "judge": "Judge the stored exchanges of a campaign or of a log again.",
        "compare": "Compare two campaigns case by case.",
    },
    "Work on the suite": {
        "cases": "Check case files, or print their JSON Schema.",
        "serve": "Start the embedded reference server.",
        "prove": "Prove that every clause can fail, and that nothing legal fails.",
        "golden": "Regenerate the golden message pairs and vectors, or check them.",
        "freeze": "Freeze this version's clauses, or check them against the frozen ones.",
    },
}
"""The commands under their headings, each with its line in the help."""

RARE: Final = ("Millions of cases, on Spark", "Work on the suite")
"""The headings that few users need: without ``--help-all``, the help names their commands in a line."""

COMMANDS: Final[Mapping[str, str]] = dict(itertools.chain.from_iterable(group.items() for group in GROUPS.values()))
"""Each command with its line; its module is ``conformance.cli.<name>`` (``list_`` for ``list``)."""

_EXTRAS: Final = {"pyspark": "run,readers,spark"}
"""The extras that provide a missing package, if they are not the extras of most commands."""


def missing(package: str) -> str:
    """The sentence about a ``package`` that a command needs: how to install it, also where the suite is a checkout."""
    extras = _EXTRAS.get(package.partition(".")[0], "run,readers")
    return (
        f"this command needs {package}, which is not installed;"
        f" install it with: pip install 'arrow-conformance[{extras}]', or in a checkout: pip install '.[{extras}]'"
    )


def usage(message: str, command: str, *, near: Iterable[str] = ()) -> str:
    """A usage error of ``command`` as one sentence on one line, which says how to go on; ``near`` are similar names,
    the nearest first.
    """
    said = " ".join(message.split()).rstrip(".")
    if likely := " or ".join(near):
        return f"{said}; did you mean {likely}?"
    return said if "--help`" in said else f"{said}; see `{command} --help`"
