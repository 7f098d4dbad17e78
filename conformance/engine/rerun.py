"""Judge a target again as a log says that it was judged: the same selection, seed, readers, deadlines and attempts."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.engine.events import Event, RunStarted
from conformance.engine.plugin import EnginePlugin
from conformance.engine.recount import recorded_selection, replanned
from conformance.engine.session import Settings, open_session
from conformance.protocol import plugin
from conformance.targets import load_target

__all__ = ["rerun"]


def rerun(start: RunStarted, target: str) -> Iterator[Event]:
    """The events of another run with the parameters of ``start``, on the target ``target``.

    Raises:
        TargetError: the target cannot be used.
        ValueError: the parameters are impossible.
    """
    settings = Settings(
        seed=start.seed,
        generated=start.generated,
        scenarios=start.scenarios,
        shrink=False,
        readers=start.readers,
        deadline_multiplier=start.deadline_multiplier,
        repeat=start.repeat,
        reader=start.reader,
    )
    spec = load_target(target)
    spoken = plugin(EnginePlugin, spec.protocol)
    spec = spoken.playing(spec, start.cases)
    with open_session(spec, replanned(start, spoken.described(spec)), recorded_selection(start), settings) as session:
        yield from session.events()
