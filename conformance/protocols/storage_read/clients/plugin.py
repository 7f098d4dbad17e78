"""The situations of clients that read sessions."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from conformance.clients.plugin import ClientsPlugin
from conformance.engine.corpus import load_corpus
from conformance.engine.owed import reference_target
from conformance.generate import materialise
from conformance.protocols.storage_read.clients.pool import ClientPool
from conformance.protocols.storage_read.clients.situations import Set, faulty, of_case


def _situations(corpus: Path, selected: Callable[[str], bool]) -> Iterator[Set]:
    """The situations with faults, then those of the cases that the reference answers."""
    yield from (one for one in faulty() if selected(one.id))
    cases = load_corpus(corpus)
    with reference_target() as target:
        for case in cases.values():
            if not case.isolated and selected(case.id):
                yield from of_case(case, target.drive(case, materialise(case.table)))


PLUGIN: Final = ClientsPlugin(pool=ClientPool, situations=_situations)
