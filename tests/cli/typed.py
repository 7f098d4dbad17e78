"""Command lines as a user types them, and what a user's directory holds."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click.testing
import pytest

import conformance
from conformance.cli._group import cli
from conformance.contain.child import OutputEnds
from conformance.targets import Target, TargetSpec, open_target

INSTALLED = Path(conformance.__file__).parent.parent
"""Where the suite under test is imported from: the checkout, or site-packages."""

CASE = """\
id: one
title: One column comes back
table:
  columns:
    - {name: a, type: INT64}
  rows: [{a: 1}, {a: null}, {a: 3}]
"""
SERIALIZER = """\
import pyarrow as pa

def serialize_schema(schema):
    return schema.serialize().to_pybytes()

def serialize_batch(batch):
    return batch.serialize().to_pybytes() + bytes(8)

class Honest:
    serialize_schema = staticmethod(serialize_schema)
    @staticmethod
    def serialize_batch(batch):
        return batch.serialize().to_pybytes()

class Liar(Honest):
    serialize_batch = staticmethod(serialize_batch)
"""
TARGET = 'name = "{name}"\nkind = "serializer"\n\n[serializer]\nentry = "user_serializer:{name}"\npath = ["."]\n'


def conformance_(*arguments: str) -> click.testing.Result:
    """The result of one command line."""
    result = click.testing.CliRunner().invoke(cli, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def run(*arguments: str) -> click.testing.Result:
    """``conformance run`` on the user's corpus, without readers."""
    return conformance_("run", "--corpus", "corpus", "--no-readers", *arguments)


class Part:
    """A shard of ``run --parallel`` in this process, as :mod:`conformance.engine.parallel` sees its own."""

    def __init__(self, command: Sequence[str], **_: object) -> None:
        done = conformance_(*command[command.index("run") :])
        self.code = done.exit_code
        self.tail = OutputEnds()
        self.tail.add(done.stderr.encode())

    def wait_for_exit(self, _seconds: float | None) -> None:
        """Nothing: it has ended."""

    def stop(self, *, grace: float) -> None:
        """Nothing, too."""


def stay_here(patch: pytest.MonkeyPatch) -> None:
    """Let runs call serializers, and judge shards, in this process: for tests of what comes of a run.

    What the processes are for has tests of its own.
    """

    def opened(spec: TargetSpec, **options: Any) -> AbstractContextManager[Target]:
        sys.modules.pop("user_serializer", None)  # that of another directory
        importlib.invalidate_caches()
        return open_target(spec, **options, alone=True)

    patch.setattr("conformance.engine.session.open_target", opened)
    patch.setattr("conformance.engine.parallel.Child", Part)
