"""The reference of the Storage Read API: a server over gRPC and REST."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from conformance.protocols.storage_read.reference.hosted import storage_target
from conformance.protocols.storage_read.reference.mutants import FAULTY_SERVERS, MUTANTS, service_class
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.servicevariations import SERVICE_VARIATIONS
from conformance.protocols.storage_read.reference.serving import serve
from conformance.reference.clock import PATH
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.register import Mutant
from conformance.targets.spec import Clock, Endpoint, Ready, Start, TargetKind, TargetSpec


@contextmanager
def _listening(mutant: str | None) -> Iterator[TargetSpec]:
    with ReferenceServer(mutant=mutant) as server:
        endpoint = Endpoint(grpc=server.grpc_endpoint, rest=f"http://{server.rest_endpoint}")
        yield TargetSpec("reference", TargetKind.SERVER, endpoint=endpoint, clock=Clock(PATH))


def _process(mutant: str, folder: Path) -> TargetSpec:
    state = str(folder / "state")
    command = (sys.executable, "-m", "conformance.reference", "--mutant", mutant, "--state", state)
    return TargetSpec(
        "mutant",
        TargetKind.SERVER,
        start=Start(command, grace=1.0, restarts=True),
        ready=Ready(grpc_event="grpc.listen", rest_event="rest.listen"),
    )


def _mutants() -> Mapping[str, Mutant]:
    return MUTANTS


def _variations() -> tuple[str, ...]:
    return tuple(SERVICE_VARIATIONS)


PLUGIN: Final = ReferencePlugin(
    target=storage_target,
    served=lambda service: storage_target(make=service),
    meeting=lambda mutant: storage_target(mutant, still=False),
    listening=_listening,
    process=_process,
    service=service_class,
    bases=(ReadService,),
    entries=frozenset({"create_read_session", "read_rows", "split_read_stream"}),
    mutants=_mutants,
    variations=_variations,
    faulty=tuple(FAULTY_SERVERS),
    capabilities=frozenset({"query-results"}),
    serve=serve,
    serve_options=frozenset({"mutant", "host", "tls", "guard", "delays"}),
)
