"""The register of readers and writers of IPC data: one declaration each, and what follows from it."""

from __future__ import annotations

import importlib

from conformance.readers.ipc.implementation import IpcReaderInfo
from conformance.readers.ipc.implementations import IPC_READERS, IPC_WRITERS

READER = IpcReaderInfo("mine", "Mine", "Rust", kinds=("stream", "file"), options={"threads": (True,)}, lacks="no")


def test_a_library_is_found_by_its_module() -> None:
    """Its declaration does not name its folder: the register knows it."""
    infos = [info for info in (*IPC_READERS.values(), *IPC_WRITERS.values()) if info.adapter is None]

    assert infos
    for info in infos:
        module = importlib.import_module(info.module)
        assert info.name in {found.name for found in (module.READER, module.WRITER) if found is not None}


def test_a_program_is_a_reader_and_a_writer() -> None:
    """It says itself what it takes, once it runs."""
    readers = {name for name, info in IPC_READERS.items() if info.adapter is not None}

    assert readers
    assert readers == {name for name, info in IPC_WRITERS.items() if info.adapter is not None}


def test_a_writer_has_no_option_of_the_reader() -> None:
    """Fields that are not given again are the same."""
    writer = READER.as_writer(options={"codec": ("", "lz4")})

    assert (writer.name, writer.title, writer.language, writer.kinds) == ("mine", "Mine", "Rust", ("stream", "file"))
    assert writer.lacks == "no"
    assert writer.options == {"codec": ("", "lz4")}
    assert READER.as_writer().options == {}
