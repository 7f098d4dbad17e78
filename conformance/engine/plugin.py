"""What the engine knows of a protocol: what a target offers of it, and how its recorded calls become cases."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, Protocol, TypeAlias

from conformance.contract.clause import Clause
from conformance.contract.view import CallView
from conformance.engine.fates import Fate
from conformance.engine.lack import Untold
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import plugin
from conformance.records import Call, Case, Step
from conformance.targets.spec import TargetSpec

__all__ = [
    "NOT_RECORDED",
    "CaseOptions",
    "EnginePlugin",
    "Fates",
    "MessageLines",
    "Recordings",
    "RequestShape",
    "Scenario",
    "no_scenarios",
]

Fates: TypeAlias = Callable[[Iterable[Clause], tuple[int, int]], Iterator[Fate]]
"""Judges changes by clauses; (first, step) selects the changes to make."""

Scenario: TypeAlias = Callable[[TargetSpec], TargetSpec]
"""Makes of a target the server of a scenario."""


class MessageLines(Protocol):
    """Shows the messages of one call as text, in the order in which they came."""

    def lines(self, data: bytes, *, request: bool) -> Iterator[str]:
        """The lines of one request or response."""


@dataclasses.dataclass(frozen=True, slots=True)
class Recordings:
    """How calls that a proxy recorded become cases without a table.

    ``groups`` gives for each call, in their order, the key of what it belongs to and words for that; the key of a call
    that belongs to nothing is empty. ``driven`` makes the steps of a group, and the calls that carry them out.
    ``clauses`` are those on calls that requests and answers alone decide. Both functions are given calls of ``methods``
    alone.
    """

    groups: Callable[[Sequence[Call]], Iterator[tuple[str, str]]]
    driven: Callable[[Sequence[Call]], tuple[tuple[Step, ...], tuple[Call, ...]]]
    clauses: frozenset[str]
    methods: frozenset[str]


@dataclasses.dataclass(frozen=True, slots=True)
class RequestShape:
    """What one request asks for: the ``features`` in words, from the general to the special.

    ``session`` is the index of the call that created the session of a read, and ``restriction`` the filter of that
    session, if there are any.
    """

    features: tuple[str, ...] = ()
    session: int | None = None
    restriction: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class CaseOptions:
    """The options of a protocol's cases, by which the failure of a case is traced to some of them.

    ``present`` gives the names of those that a case can do without, in the order in which to try that, and ``left``
    the names of all that it has. ``without`` gives the case without some of them, or None if it is not known what is
    right then. ``places`` gives for each step what tells it from the others, with or without options.
    """

    present: Callable[[Case], Sequence[str]]
    left: Callable[[Case], Collection[str]]
    without: Callable[[Case, Collection[str]], Case | None]
    places: Callable[[Case], Sequence[object]]


def _nothing_special(_call: CallView) -> RequestShape:
    return RequestShape()


def _no_groups(calls: Sequence[Call]) -> Iterator[tuple[str, str]]:
    return (("", "") for _ in calls)


def _not_driven(_calls: Sequence[Call]) -> tuple[tuple[Step, ...], tuple[Call, ...]]:
    return (), ()


NOT_RECORDED: Final = Recordings(_no_groups, _not_driven, frozenset(), frozenset())
"""Of a protocol whose calls no proxy records."""


def _names_of_file(spec: TargetSpec) -> tuple[str, ...]:
    return spec.not_offered


def _always(_case: Case) -> bool:
    return True


def _nothing_untold(_spec: TargetSpec) -> tuple[Untold, ...]:
    return ()


def _none_described(_spec: TargetSpec) -> list[Case]:
    return []


def _also_others(_spec: TargetSpec) -> bool:
    return False


def _nothing_against(_spec: TargetSpec) -> str:
    return ""


def _as_it_is(spec: TargetSpec, _cases: Iterable[str]) -> TargetSpec:
    return spec


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EnginePlugin:
    """A protocol in the engine.

    ``left_out`` gives the profiles and types that a target file leaves out, by its list or because it does not say how
    to ask for them, and ``not_drawn`` what scenarios for it leave out. ``untold`` gives what a target file does not
    tell, each with the steps that need it. ``described`` gives the cases that a target file describes, and ``playing``
    makes of a target the server that one of these cases needs. A server that is asked them and no others is
    ``described_alone``. ``scenarios`` are servers of other integration tests, as
    which a target may be judged, by their names.

    ``messages`` shows the messages of a call; without it, they are shown by their Protobuf classes. ``features`` gives
    what a request asks for, by which refused requests are compared with served ones, and ``options`` what a case can
    do without. If
    ``has_known_rows``, any of its servers can be given rows, so that a run begins with a smoke phase, and readers can
    read them while it goes on; then ``needs_table`` says of a case whether it takes a table of its own in the server.
    ``nothing_put`` is the profile that a server leaves out if no tables are put into it,
    where a server of the protocol may serve nothing at all.

    A run of everything draws cases if the protocol ``draws_cases`` by default, and scenarios unless ``no_scenarios``
    says why a server cannot be asked any, as the end of a sentence on it.

    ``changed`` gives what becomes of each change of a field of right answers, and ``substituted`` of each column with
    another type than it should have. Clauses have to reject all of them, but for what something permits.
    """

    LAYER: ClassVar[str] = "engine"

    recordings: Recordings = NOT_RECORDED
    left_out: Callable[[TargetSpec], tuple[str, ...]] = _names_of_file
    not_drawn: Callable[[TargetSpec], tuple[str, ...]] = _names_of_file
    untold: Callable[[TargetSpec], tuple[Untold, ...]] = _nothing_untold
    described: Callable[[TargetSpec], list[Case]] = _none_described
    described_alone: Callable[[TargetSpec], bool] = _also_others
    playing: Callable[[TargetSpec, Iterable[str]], TargetSpec] = _as_it_is
    scenarios: Mapping[str, Scenario] = dataclasses.field(default_factory=dict)
    messages: Callable[[Call, int], MessageLines] | None = None
    features: Callable[[CallView], RequestShape] = _nothing_special
    options: CaseOptions | None = None
    has_known_rows: bool = True
    needs_table: Callable[[Case], bool] = _always
    nothing_put: str = ""
    draws_cases: bool = True
    no_scenarios: Callable[[TargetSpec], str] = _nothing_against
    changed: Fates | None = None
    substituted: Fates | None = None


def no_scenarios(spec: TargetSpec) -> str:
    """Why a server cannot be asked any scenarios, as the end of a sentence on it; empty if it can."""
    if not plugin(GeneratePlugin, spec.protocol).scenario_word:
        return f"a server of {spec.protocol}, which has no scenarios"
    return plugin(EnginePlugin, spec.protocol).no_scenarios(spec)
