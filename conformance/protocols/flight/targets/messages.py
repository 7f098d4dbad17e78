"""The request messages of Arrow Flight RPC for the steps of a case, as bytes, and what of an answer a later one needs.

The rows of a DoPut are written by pyarrow, whose messages come apart into ``data_header`` and ``data_body``; what the
target makes of them is judged, and they are not.
"""

from __future__ import annotations

import dataclasses

from conformance.protocols.flight.contract import encoding
from conformance.protocols.flight.contract.decoding import Info
from conformance.protocols.flight.records import Descriptor, DoAction, NameForm

__all__ = ["FlightNames", "action_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class FlightNames:
    """The names of the flights of one case on a server.

    ``path`` is the path of each flight, where ``{name}`` is the case with the flight's own path; ``token`` is the part
    of a name that no other run has, empty on a server that the suite started. ``echo`` is the command under which the
    server sends back what it gets.
    """

    case_id: str
    path: tuple[str, ...] = ("{name}",)
    token: str = ""
    echo: str = "echo"

    def descriptor(self, named: Descriptor) -> Descriptor:
        """The descriptor as the server gets it; a command is left as it is, and so is a path that the server has."""
        if not named.path or named.known:
            return named
        dotted = named.form is NameForm.DOTTED
        first, rest = (named.path, ()) if dotted else (named.path[:1], named.path[1:])
        name = ".".join(filter(None, (self.case_id, *first, self.token)))
        path = tuple(step.replace("{name}", name) for step in self.path)
        match named.form:
            case NameForm.SPLIT:
                path = (*path, *rest)
            case NameForm.SLASHED:
                path = (*path[:-1], "/".join((path[-1], *rest)))
            case NameForm.COMMAND:
                return Descriptor(cmd="/".join((*path, *rest)).encode())
        return Descriptor(path=path)


def action_of(step: DoAction, info: Info | None) -> bytes | None:
    """The Action of a step; None if it is about an info or an endpoint that there is not."""
    if not step.info:
        return encoding.action(step.type, step.body)
    if info is None:
        return None
    if not step.endpoint:
        return encoding.action(step.type, encoding.part(1, info.raw))
    if int(step.endpoint) >= len(info.endpoints):
        return None
    return encoding.action(step.type, encoding.part(1, info.endpoints[int(step.endpoint)].raw))
