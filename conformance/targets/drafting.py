"""The text of a target file: what ``conformance init`` writes for a new target.

It holds the keys with which a target begins; docs/target-file.md explains the others, which the owner adds by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.contain.text import quoted
from conformance.targets.endpoint import Endpoint
from conformance.targets.environmentspec import INSTALLS, EnvironmentSpec
from conformance.targets.spec import Seed, TargetSpec

__all__ = ["target_text"]

_HEAD = "# A target of the conformance suite: docs/target-file.md explains every key.\n"


def target_text(spec: TargetSpec) -> str:
    """The file that reads as ``spec``, as far as that consists of keys with which a target begins.

    >>> from conformance.targets.spec import Endpoint, TargetKind
    >>> endpoint = Endpoint("localhost:9060", "http://localhost:9050")
    >>> print(target_text(TargetSpec("mine", TargetKind.SERVER, endpoint=endpoint)))
    # A target of the conformance suite: docs/target-file.md explains every key.
    name = "mine"
    kind = "server"
    # not_offered = []    # parts and types of columns that it does not offer: `conformance list profiles`
    <BLANKLINE>
    # The server that runs already.
    [endpoint]
    grpc = "localhost:9060"
    rest = "http://localhost:9050"
    <BLANKLINE>
    """
    return _HEAD + "".join(f"{line}\n" for line in _lines(spec))


def _lines(spec: TargetSpec) -> Iterator[str]:
    default = TargetSpec(spec.name, spec.kind)
    yield f"name = {quoted(spec.name)}"
    yield f"kind = {quoted(spec.kind)}"
    if spec.project != default.project:
        yield f"project = {quoted(spec.project)}"
    lists = {"capabilities": spec.capabilities, "not_offered": spec.not_offered}
    yield from (f"{key} = {_array(texts)}" for key, texts in lists.items() if texts)
    if spec.serves and not spec.not_offered:
        yield "# not_offered = []    # parts and types of columns that it does not offer: `conformance list profiles`"
    if spec.start is not None:
        yield from ("", "# No shell: one word each. A relative path begins at the directory in which the suite runs;")
        yield from ("# {here} is the directory of this file.", "[start]")
        yield f"command = {_array(spec.start.command)}"
    if spec.environment is not None:
        yield from _installed(spec.environment)
    if spec.endpoint is not None:
        yield from ("", "# The server that runs already.", "[endpoint]")
        yield f"grpc = {quoted(spec.endpoint.grpc)}"
        if spec.endpoint.rest:
            yield f"rest = {quoted(spec.endpoint.rest)}"
        yield from _credentials(spec.endpoint)
    if spec.serializer is not None:
        yield from ("", "# module:object, imported from the directories of `path` too.", "[serializer]")
        yield f"entry = {quoted(spec.serializer.entry)}"
        yield f"path = {_array(spec.serializer.path)}"
    ready = [(key, getattr(spec.ready, key)) for key in ("rest_path", "grpc_event", "rest_event")]
    if any(value for _, value in ready):
        yield from ("", "# The server is ready when all of this has answered.", "[ready]")
        yield from (f"{key} = {quoted(value)}" for key, value in ready if value)
    yield from _seeding(spec.seed)


def _seeding(seed: Seed) -> Iterator[str]:
    """The lines on how tables get into a server; none for insertAll alone."""
    if seed.paths != Seed().paths:
        yield from (
            "",
            "# How rows get into a table, tried in this order: docs/seeding.md explains each way.",
            "[seed]",
        )
        yield f"paths = {_array(seed.paths)}"
    if seed.program is not None:
        yield from ("", "# It gets each table on its standard input.", "[seed.program]")
        yield f"command = {_array(seed.program.command)}"
    if seed.preloaded is not None:
        yield from ("", "# What `conformance tables --out DIR` wrote, relative to this file.", "[seed.preloaded]")
        yield f"tables = {quoted(seed.preloaded.tables)}"


def _installed(environment: EnvironmentSpec) -> Iterator[str]:
    """The lines on what is installed."""
    yield from ("", "# What conformance prepare installs; {env_bin} has the executables.", "[environment]")
    if environment.interpreter:
        yield f"interpreter = {quoted(environment.interpreter)}"
    for key in INSTALLS:
        if entries := getattr(environment, key):
            yield f"{key} = {_array(entries)}"


def _credentials(endpoint: Endpoint) -> Iterator[str]:
    """The lines on TLS and the token."""
    if endpoint.tls is not None:
        yield from ("", "# Without a ca, that of the system.", "[endpoint.tls]")
        if endpoint.tls.ca:
            yield f"ca = {quoted(endpoint.tls.ca)}"
    if endpoint.token is not None:
        yield from ("", "# The token of every request; no report shows it.", "[endpoint.token]")
        if endpoint.token.command:
            yield f"command = {_array(endpoint.token.command)}"
        if endpoint.token.variable:
            yield f"variable = {quoted(endpoint.token.variable)}"


def _array(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"
