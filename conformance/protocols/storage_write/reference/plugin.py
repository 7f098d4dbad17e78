"""The reference of the Storage Write API: a server over gRPC and REST."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from conformance.protocols.storage_write.reference.deviations import service_class
from conformance.protocols.storage_write.reference.register import WRITE_MUTANTS, WRITE_VARIATIONS
from conformance.protocols.storage_write.reference.server import HostedWrites, listen
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.serving import serve
from conformance.protocols.storage_write.reference.store import Store
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.register import Mutant
from conformance.reference.tokens import opaque
from conformance.targets import Target
from conformance.targets.hosted import hosted
from conformance.targets.spec import Endpoint, Ready, Start, TargetSpec
from conformance.targets.ticks import WALL

_KIND: Final = "storage-write"


def _served(make: Callable[[Store], WriteService], *, still: bool = True) -> Target:
    return hosted(TargetSpec("reference", _KIND), functools.partial(HostedWrites, make=make), still=still)


@contextmanager
def _listening(name: str | None) -> Iterator[TargetSpec]:
    with ExitStack() as stack:
        rpc, rest = listen(service_class(name)(Store(WALL.now, opaque)), stack)
        yield TargetSpec("reference", _KIND, endpoint=Endpoint(grpc=rpc, rest=rest))


def _process(name: str, _folder: Path) -> TargetSpec:
    command = (sys.executable, "-P", "-m", "conformance.protocols.storage_write.reference", "--mutant", name)
    ready = Ready(grpc_event="grpc.listen", rest_event="rest.listen")
    return TargetSpec("mutant", _KIND, start=Start(command, grace=1.0), ready=ready)


def _mutants() -> Mapping[str, Mutant]:
    return WRITE_MUTANTS


def _of_class(service: Any) -> Target:
    return _served(service)


PLUGIN: Final = ReferencePlugin(
    target=lambda name: _served(service_class(name)),
    served=_of_class,
    meeting=lambda name: _served(service_class(name), still=False),
    listening=_listening,
    process=_process,
    service=service_class,
    bases=(WriteService,),
    entries=frozenset(
        {
            *("create_write_stream", "append_rows", "get_write_stream", "finalize_write_stream"),
            *("batch_commit_write_streams", "flush_rows", "create_read_session", "read_rows"),
        }
    ),
    mutants=_mutants,
    variations=lambda: tuple(WRITE_VARIATIONS),
    serve=serve,
    serve_options=frozenset({"mutant", "host"}),
)
