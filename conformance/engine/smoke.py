"""The smoke phase: three plain cases decide whether a target can be judged at all, before anything is judged.

If no row comes for any of them, every other case would fail or be untestable for the same reason. Then the same cases
are put to the suite's own target, so that the report blames either this installation, the set-up, or the target.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol, runtime_checkable

from conformance.contain.text import many, safe
from conformance.engine.casestep import CaseStep, CaseWork, Driver, Phase
from conformance.engine.plugin import EnginePlugin
from conformance.engine.selection import NO_ROW, OTHER_SHARD, LeftOut, Plan
from conformance.engine.shards import Shard
from conformance.generate.forms import BASE, forms_of, in_form, parted
from conformance.protocol import plugin
from conformance.records import SET_UP, Case, Exchange
from conformance.targets import Target, TargetError, TargetKind, TargetSpec, load_target, open_target
from conformance.targets.spec import OVER_REST

__all__ = ["SMOKE", "Attempt", "attempt", "narrowed", "refuse_without_tables", "smoke"]

SMOKE: Final = ("rows.one-row", "session.plain", "types.int64")
"""The cases: whole reads of small tables, with and without REQUIRED columns, of INT64 and STRING."""

OWN: Final[Mapping[str, str]] = MappingProxyType(
    {TargetKind.SERVER: "reference", TargetKind.SERIALIZER: "pyarrow", TargetKind.PROGRAM: "pyarrow"}
)
"""The suite's own target that is asked the same, by the kind of the target."""

PATIENCE: Final = 10.0
"""Seconds after which no further case is tried: a target that hangs costs its deadline once, not three times."""

QUOTED: Final = 400
"""The most characters of an observation: three of them are in the one sentence that says why a run ends."""

LAGS: Final = (0.5, 1.0, 2.0, 4.0)
"""Seconds to wait for rows that REST lists and no session shows; together less than :data:`PATIENCE`."""

ROWS: Final = ("ReadRows", "SerializeBatch")
"""The methods whose responses have rows."""

_NOT_HERE: Final = ("UNIMPLEMENTED", "INVALID_ARGUMENT")
"""The statuses that say that a server has no such form."""


@dataclasses.dataclass(frozen=True, slots=True)
class Attempt:
    """How far a target came with one case.

    ``rows`` is true if it sent at least one response with rows, ``answered`` if it answered a call at all; if not, the
    set-up is wrong: no server, or no table in it. ``observed`` says what came instead of rows, and ``empty`` that every
    call ended in OK.
    """

    case_id: str
    rows: bool
    answered: bool
    observed: str
    empty: bool = False


def attempt(driver: Driver, case: Case) -> Attempt:
    """Put a case to a target, under an id of its own, so that its table is not that of the case in the run."""
    work = CaseStep((), driver).take(CaseWork(dataclasses.replace(case, id=f"smoke.{case.id}")), Phase.DRIVEN)
    if work.exchange is None:
        return Attempt(case.id, rows=False, answered=False, observed=safe(str(work.error), QUOTED))
    exchange = work.exchange
    rows = any(call.method in ROWS and call.responses for call in exchange.calls)
    empty = not rows and bool(exchange.calls) and all(call.status == "OK" for call in exchange.calls)
    return Attempt(case.id, rows, bool(exchange.calls), "" if rows else safe(_observed(exchange), QUOTED), empty)


def _observed(exchange: Exchange) -> str:
    if not exchange.calls:
        return exchange.untestable or exchange.stopped or "no call was made"
    last = exchange.calls[-1]
    if last.status == "OK":
        listed = ", though tabledata.list shows them" if exchange.table else ""
        return f"{last.method} ended in OK, and no row came{listed}"
    return f"{last.method} ended in {': '.join(filter(None, (last.status or last.end, last.details)))}"


def refuse_without_tables(spec: TargetSpec, cases: Sequence[Case], drawn: int) -> None:
    """Refuse a server that runs already and in which no table can be made, if most cases need one.

    ``drawn`` is the number of cases that the run draws, each with a table. They would cost a minute, and end as
    untestable.

    Raises:
        TargetError: it is such a server; the text says what to add.
    """
    spoken = plugin(EnginePlugin, spec.protocol)
    here = spec.endpoint
    if not spoken.has_known_rows or here is None or here.rest or not OVER_REST.issuperset(spec.seed.paths):
        return
    needing, total = drawn + sum(map(spoken.needs_table, cases)), drawn + len(cases)
    if 2 * needing <= total:
        return
    add = "?rest=http://HOST:PORT" if "://" in spec.file else "rest to [endpoint]"
    raise TargetError(
        f"{spec.file}: no REST address: {needing} of {total} cases need tables, which the suite makes over REST; add"
        f" {add} or another way of seeding, or have the other {many(total - needing, 'case')} judged with --no-smoke"
    )


def smoke(spec: TargetSpec, target: Target, cases: Iterable[Case]) -> str:
    """Put the smoke cases among ``cases`` to the target; return why the run has to end, empty if it can go on.

    Raises:
        TargetError: nothing could be asked of the target, or the suite's own target fails as well.
    """
    if not plugin(EnginePlugin, spec.protocol).has_known_rows:
        return ""
    if spec.endpoint is not None and not spec.endpoint.rest:
        return ""  # a table would have to be made: what needs none is put, and says what the server does
    chosen = [case for case in cases if _is_plain(case)]
    attempts = _attempts(target, chosen)
    if not attempts or attempts[-1].rows or _rows_are_late(spec, target, chosen[0], attempts):
        return ""
    seen = _seen(attempts)
    if all(one.observed.startswith(SET_UP) for one in attempts):
        raise TargetError(f"{spec.file}: {attempts[0].observed.removeprefix(SET_UP)}")
    own = load_target(OWN[spec.kind])
    if spec.name != own.name and (failure := _own_failure(own, chosen)):
        raise TargetError(
            f"expected rows from the suite's own target {own.name}, but got none ({failure}), and none from"
            f" {spec.name} ({seen}): nothing can be judged with this installation of the suite; install it again"
        )
    if not any(one.answered for one in attempts):
        raise TargetError(
            f"{spec.file}: no table can be made in {spec.name}: {attempts[0].observed}; the same tables can be made in"
            f" the suite's own target {own.name}, so change the target or the server, or go on with --no-smoke"
        )
    return (
        f"{NO_ROW} {' or '.join(one.case_id for one in attempts)} ({seen}), which {own.name} serves here, so"
        " they were not asked; fix this first, or go on with --no-smoke"
    )


def _attempts(target: Driver, cases: Iterable[Case]) -> list[Attempt]:
    """The attempts at the cases, up to the first one with rows."""
    attempts: list[Attempt] = []
    began = time.monotonic()
    for case in cases:
        attempts.append(attempt(target, case))
        if attempts[-1].rows or time.monotonic() - began > PATIENCE:
            break
    return attempts


@runtime_checkable
class Lagging(Driver, Protocol):
    """A target whose sessions may show rows some seconds after REST has listed them: ``lag`` is waited before."""

    lag: float


def _rows_are_late(spec: TargetSpec, target: Driver, case: Case, attempts: Sequence[Attempt]) -> bool:
    """True if rows come some time after REST has listed them; the target then waits that long in each case.

    Only a target that ended every call in OK is tried, and no longer than one request of seeding may take.
    """
    if not isinstance(target, Lagging) or not all(one.empty for one in attempts):
        return False
    for lag in LAGS:
        if lag > spec.deadlines.seed:
            break
        target.lag = lag
        if attempt(target, case).rows:
            return True
    target.lag = 0.0
    return False


def _seen(attempts: Sequence[Attempt]) -> str:
    """The distinct observations, each once."""
    return "; ".join(dict.fromkeys(one.observed for one in attempts))


def _own_failure(own: TargetSpec, cases: Sequence[Case]) -> str:
    """What the suite's own target did instead of sending rows; empty if it sent some."""
    try:
        with open_target(own) as target:
            attempts = _attempts(target, cases)
    except TargetError as error:
        return str(error)
    return "" if attempts[-1].rows else _seen(attempts)


def narrowed(plan: Plan, cases: Iterable[Case], reason: str, shard: Shard | None) -> Plan:
    """The plan of a run that ends after the smoke cases; ``reason`` is why all others are left out."""
    smoke_cases = [case for case in cases if _is_plain(case)]
    names = {case.id for case in smoke_cases}
    here = [case for case in smoke_cases if shard is None or shard.holds(case.id)]
    return dataclasses.replace(
        plan,
        cases=tuple(here),
        left_out=(
            *(left for left in plan.left_out if left.id not in names),
            *(LeftOut("case", case.id, OTHER_SHARD) for case in smoke_cases if case not in here),
            *(LeftOut("case", case.id, reason) for case in plan.cases if case.id not in names),
        ),
    )


def _is_plain(case: Case) -> bool:
    """True for the smoke cases, in any form."""
    return parted(case.id)[0] in SMOKE


def refused_form(target: Driver, cases: Iterable[Case]) -> str:
    """A sentence if the target refuses a form as one that it does not have; empty if it refuses none.

    The first of the smoke cases among ``cases`` is put to it in each form. Any other answer without rows is a defect,
    which the cases of the run show.
    """
    first = next(filter(_is_plain, cases), None)
    if first is None:
        return ""
    for form in forms_of(first.protocol):
        case = in_form(first, form)
        if case is None:
            continue
        found = attempt(target, case)
        if not found.rows and any(f" ended in {code}" in found.observed for code in _NOT_HERE):
            return f"no case is put to the target in the form {form}, which it refuses: {found.observed}"
    return ""


def in_base(plan: Plan, remark: str) -> Plan:
    """The plan of a run in the base alone, with the remark that says why it is no other."""
    return dataclasses.replace(
        plan,
        cases=tuple(case for case in plan.cases if parted(case.id)[1] == BASE),
        left_out=tuple(left for left in plan.left_out if parted(left.id)[1] == BASE),
        remarks=(*plan.remarks, remark),
    )
