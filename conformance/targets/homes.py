"""The home of a started target: created for one start and removed after it, so that runs do not affect each other.

The files that the target's TOML file copies are copied into it; a file system that can share blocks (btrfs, xfs) does.
A killed run cannot remove its homes. The next start does: the lock of such a home is free.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import secrets
import shutil
import string
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from conformance.disk.files import DiskError, naming
from conformance.disk.locks import held, is_locked
from conformance.disk.trees import remove_tree
from conformance.targets.environment import Environment
from conformance.targets.spec import TargetSpec
from conformance.targets.targeterrors import TargetUnavailable

__all__ = ["fresh_home"]

_NAME: Final = re.compile(r"[0-9a-f]{8}")
"""A short name: the path of a socket has at most 108 bytes on Linux (unix(7)), and targets put sockets there."""

BLOCK: Final = 1 << 30
"""Bytes per call of copy_file_range(2)."""


@contextlib.contextmanager
def fresh_home(spec: TargetSpec, environment: Environment) -> Iterator[Environment]:
    """``environment`` with a home of its own, which is removed on leaving; unchanged if the target uses no home.

    Raises:
        TargetUnavailable: the home cannot be created; the text names the file and the reason.
    """
    if not _asks(spec):
        yield environment
        return
    home = environment.home.with_name("homes") / secrets.token_hex(4)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held(home))
            stack.callback(remove_tree, home)
            _sweep(home.parent)
            _make(spec, environment.home, home)
        except DiskError as error:
            raise TargetUnavailable(f"{spec.name} has no home to write to: {error}") from None
        yield dataclasses.replace(environment, home=home)


def _make(spec: TargetSpec, prepared: Path, home: Path) -> None:
    with naming(home):
        home.mkdir()
    for one in spec.environment.copy if spec.environment is not None else ():
        _copy(prepared / one.target, home / one.target)


def _asks(spec: TargetSpec) -> bool:
    texts: Iterable[str] = spec.version_command
    if spec.start is not None:
        texts = (*texts, *spec.start.command, *spec.start.environment.values())
    return any(name == "home" for text in texts for _, name, _, _ in string.Formatter().parse(text))


def _copy(source: Path, target: Path) -> None:
    with naming(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with source.open("rb") as one, target.open("wb") as other:
                while os.copy_file_range(one.fileno(), other.fileno(), BLOCK):
                    pass
        except (AttributeError, OSError):  # not Linux, or a file system without copy_file_range
            shutil.copyfile(source, target)


def _sweep(homes: Path) -> None:
    """Remove the homes of killed starts."""
    for left in homes.iterdir():
        if _NAME.fullmatch(left.name) and not is_locked(left):
            remove_tree(left)
