"""A command never replaces a file that it reads, and never writes two things into one file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from conformance.cli._options import WrittenFile

__all__ = ["not_distinct"]


def not_distinct(parameters: Iterable[click.Parameter], values: Mapping[str, Any]) -> str:
    """A sentence on the first output (a parameter of the type ``WrittenFile``) that another parameter of the command
    names as well; empty if there is none. Devices and pipes may be named more than once.
    """
    written, others = {}, []
    for parameter in parameters:
        value = values.get(parameter.name or "")
        if isinstance(parameter.type, WrittenFile) and isinstance(value, Path):
            written[parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name] = value
        elif parameter.type is not click.UNPROCESSED:  # words of a program, which may read the output
            others.append(value)
    if not written:
        return ""
    taken: dict[object, str] = {_place(path): "another argument of this command" for path in _paths(others)}
    for name, path in written.items():
        place = _place(path)
        if place in taken and not (path.exists() and not path.is_file()):
            return f"{name} {path}: expected a file of its own, got that of {taken[place]}"
        taken[place] = name
    return ""


def _place(path: str | Path) -> object:
    """What two paths of one file have in common, also if they are hard links."""
    try:
        found = os.stat(path)  # noqa: PTH116  # the path may be any text
    except (OSError, ValueError):
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def _paths(arguments: Iterable[object]) -> Iterator[str | Path]:
    """The files that arguments name; a word that is no file does no harm."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _paths(argument)
        elif isinstance(argument, Path) or (isinstance(argument, str) and "\0" not in argument):
            yield argument
