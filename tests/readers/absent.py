"""A reader whose library is not installed."""

from __future__ import annotations

import importlib

from conformance.readers.info import Read, ReaderInfo, Takes

INFO = ReaderInfo(name="absent", title="a reader without its library", package="none", takes=Takes.MESSAGES)


def load() -> Read:
    """Fail to import."""
    raise AssertionError(importlib.import_module("no_such_library_anywhere"))
