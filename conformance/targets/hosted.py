"""Servers in this process as targets: each case has one of its own, whose clock moves only where the driver waits.

So an exchange depends on the case and on the server's code alone, and equal servers give equal exchanges, to the byte.
That is not so for calls that are made at the same time, each in a thread: they need the clock of the machine, by which
it can be seen that they met.
A call that needs a connection (one with a fault, one from another process) goes over a real one: the server begins to
listen when such a call is made.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Final, Protocol, cast

import grpc
import pyarrow as pa

from conformance.contain.jsonhttp import Answering
from conformance.generate.materialise import materialise, to_json_rows
from conformance.protocol import plugin
from conformance.records import Case, Table
from conformance.targets.environment import find
from conformance.targets.inprocess import InProcessChannel, InProcessHttp
from conformance.targets.opening import Target
from conformance.targets.plugin import TargetsPlugin
from conformance.targets.recent import Recent
from conformance.targets.recordedcall import close_channel
from conformance.targets.restway import LARGE
from conformance.targets.running import RunningServer
from conformance.targets.seeding import MadeTable
from conformance.targets.seeds import case_rows
from conformance.targets.spec import TargetSpec
from conformance.targets.starting import Starter
from conformance.targets.ticks import WALL, StillTime, Time

__all__ = ["HERE", "HostedServer", "hosted", "rows_of"]

HERE: Final = "127.0.0.1:1"
"""The address of a server that nobody connects to."""


MOST_BYTES: Final = 128 << 20
"""Bytes, as JSON, of the rows of all tables that are kept; in the servers that have them, they are Arrow data."""
MOST_RECIPES: Final = 400
"""Recipes of fewer than :data:`~conformance.targets.restway.LARGE` rows whose rows are kept."""


class HostedServer(Protocol):
    """A server in this process."""

    @property
    def handlers(self) -> grpc.GenericRpcHandler[Any, Any]:
        """Its methods, as a listener of gRPC calls them."""

    @property
    def answering(self) -> Answering:
        """What answers requests over HTTP."""

    def listen(self) -> tuple[str, str]:
        """Begin to listen, once; the address for gRPC, and the one for HTTP with its scheme."""

    def stop(self) -> None:
        """Listen no longer."""

    def kept(self) -> object:
        """What is in the server's tables."""

    def restore(self, kept: object) -> None:
        """Have these tables in a new server."""


def hosted(
    spec: TargetSpec, make: Callable[[Time], HostedServer], *, connected: bool = False, still: bool = True
) -> Target:
    """A server in this process as a target; ``make`` makes one with these clocks, and ``spec`` has no address.

    If ``connected``, everything goes over connections: to what is asked, the answers are the same. The clock is that of
    the machine unless it stands ``still``.
    """
    starter = functools.partial(_Hosting, make=make, connected=connected, still=still)
    held = plugin(TargetsPlugin, spec.protocol)
    target: Target = (held.hosted or held.driver)(spec, find(spec), multiplier=1.0, starter=starter)
    return target


class _RecipeRows(Sequence[Any]):
    """The rows of a recipe in JSON; those of the last few recipes are ``kept``."""

    def __init__(self, table: Table, kept: Recent[tuple[Any, ...]]) -> None:
        assert table.recipe is not None, "other rows are in the case"
        self._table: Final = table
        self._count: Final = table.recipe.rows
        self._kept: Final = kept

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        return self._made()[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RecipeRows) and self._table == other._table

    def __hash__(self) -> int:
        return hash(self._table)

    def _made(self) -> tuple[Any, ...]:
        table = self._table
        return self._kept.get(table, lambda: tuple(to_json_rows(materialise(table), table.columns)))


class _Seeds:
    """The tables of cases as servers of this process had them, and the rows of recipes.

    A server is seeded over HTTP, by what no fault of a reference changes, so that a new server has the same tables
    after the same requests. They are brought back instead. :data:`MOST_BYTES` limits what is kept. The largest tables
    are dropped first, the newest of equal ones: a proof puts the same cases to many servers in turn, and the table that
    was not asked for the longest is the one that is needed next.
    """

    def __init__(self) -> None:
        self._few: Recent[tuple[Any, ...]] = Recent(MOST_RECIPES)
        self._many: Recent[tuple[Any, ...]] = Recent()
        self._known: dict[str, tuple[MadeTable, object]] = {}
        self._sent = 0

    def rows_of(self, case: Case, table: pa.Table) -> Sequence[Any]:
        """The rows of a case in JSON. Those of a recipe are made where one is looked at: a table that is brought back
        needs none.
        """
        recipe = case.table.recipe
        if recipe is None:
            return case_rows(case, table)
        return _RecipeRows(case.table, self._few if recipe.rows < LARGE else self._many)

    def remember(
        self, server: HostedServer, case: str, make: Callable[[], MadeTable], same: Callable[[MadeTable], bool]
    ) -> MadeTable:
        """The table of a case in a new server: brought back, or made now."""
        known = self._known.get(case)
        if known is not None and same(known[0]):
            server.restore(known[1])
            return known[0]
        self._drop(case)
        made = make()
        self._known[case] = made, server.kept()
        self._sent += made.table.sent
        while self._sent > MOST_BYTES:
            self._drop(max(reversed(self._known), key=lambda one: self._known[one][0].table.sent))
        return made

    def _drop(self, case: str) -> None:
        known = self._known.pop(case, None)
        if known is not None:
            self._sent -= known[0].table.sent


_SEEDS: Final = _Seeds()
"""Those of this process; one thread drives its servers at a time."""


def rows_of(case: Case, table: pa.Table) -> Sequence[Any]:
    """The rows of a case in JSON, made where one is looked at if they have a recipe."""
    return _SEEDS.rows_of(case, table)


class _Hosting(Starter):
    """Opens servers in this process."""

    def __init__(
        self,
        spec: TargetSpec,
        *more: Any,
        make: Callable[[Time], HostedServer],
        connected: bool,
        still: bool,
        **how: Any,
    ) -> None:
        super().__init__(spec, *more, **how)
        self._make = make
        self._connected = connected
        self._still = still

    @property
    def anew(self) -> bool:
        """True: what one case leaves behind is not there for the next."""
        return True

    def open(self) -> RunningServer:
        """A server of its own for a case."""
        clock = StillTime() if self._still else WALL
        server = self._make(clock)
        peers = itertools.count(1)
        later = ExitStack()
        later.callback(server.stop)

        def connect(address: str) -> grpc.Channel:
            if self._connected or address != HERE:
                channel = self.channel(server.listen()[0] if address == HERE else address)
                later.callback(close_channel, channel)
                return channel
            limit = self._spec.limits.message
            peer = f"client {next(peers)}"
            return cast("grpc.Channel", InProcessChannel(server.handlers, peer=peer, message_limit=limit, clock=clock))

        rest = server.listen()[1] if self._connected else f"http://{HERE}"
        http = None if self._connected else InProcessHttp(server.answering)
        home = self._environment
        # By the machine's clock, a table that another server had would be from another time.
        remembering = functools.partial(_SEEDS.remember, server) if self._still and not self._connected else None
        running = self._connect(
            HERE, rest, process=None, environment=home, channel=connect(HERE), http=http, remembering=remembering
        )
        running.connect = connect
        running.listening = lambda: server.listen()[0]
        running.clock = clock
        running.home = later
        return running
