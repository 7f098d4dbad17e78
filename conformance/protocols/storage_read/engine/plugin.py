"""The Storage Read API in the engine."""

from collections.abc import Iterable, Iterator
from typing import Final

from conformance.contract import proto
from conformance.contract.clause import Clause
from conformance.engine.fates import Fate
from conformance.engine.plugin import CaseOptions, EnginePlugin, Recordings
from conformance.protocols.storage_read.engine import leftout, recordings
from conformance.protocols.storage_read.engine.features import features_of
from conformance.protocols.storage_read.generate.queries import CAPABILITY
from conformance.records import Case, RunQuery
from conformance.targets.spec import TargetSpec


def _not_drawn(spec: TargetSpec) -> tuple[str, ...]:
    return spec.not_offered if CAPABILITY in spec.capabilities else (*spec.not_offered, CAPABILITY)


def _changed(clauses: Iterable[Clause], take: tuple[int, int]) -> Iterator[Fate]:
    from conformance.protocols.storage_read.engine.systematic import fates  # noqa: PLC0415  # for the proof alone

    return fates(clauses, take)


def _substituted(clauses: Iterable[Clause], take: tuple[int, int]) -> Iterator[Fate]:
    from conformance.protocols.storage_read.engine.substituted import type_fates  # noqa: PLC0415  # as above

    return type_fates(clauses, take)


def _needs_table(case: Case) -> bool:
    from conformance.protocols.storage_read.targets.denied import needs_table  # noqa: PLC0415  # it imports gRPC

    return needs_table(case)


PLUGIN: Final = EnginePlugin(
    not_drawn=_not_drawn,
    changed=_changed,
    substituted=_substituted,
    features=features_of,
    needs_table=_needs_table,
    options=CaseOptions(leftout.options_of, leftout.left, leftout.without, leftout.places),
    recordings=Recordings(
        recordings.groups, recordings.driven, recordings.CLAUSES, frozenset({*proto.REQUESTS, RunQuery.METHOD})
    ),
)
