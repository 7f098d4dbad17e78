"""The steps of all protocols."""

from __future__ import annotations

from typing import ClassVar

import pytest

from conformance.protocol import protocol_names
from conformance.records import (
    CallStep,
    Case,
    Expect,
    RecordError,
    RecordsPlugin,
    Step,
    Table,
    from_json,
    steps_of,
    to_json,
)
from conformance.records.base import record
from conformance.records.plugin import all_steps


@record
class ReadRowsOtherwise(CallStep):
    """A step with the tag of another."""

    TAG: ClassVar[str] = "read-rows"

    expect: Expect = Expect()


def test_a_step_is_known_by_its_tag_alone() -> None:
    """A stored step does not say of which protocol it is."""
    assert len({kind.TAG for kind in all_steps()}) == len(all_steps())
    assert {kind for name in protocol_names() for kind in steps_of(name)} == set(all_steps())


def test_two_steps_with_one_tag_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocol that comes second is named."""
    own = {name: RecordsPlugin((*steps_of(name), ReadRowsOtherwise)[-1:]) for name in protocol_names()[1:2]}
    first = {name: RecordsPlugin(steps_of(name)) for name in protocol_names()[:1]}
    monkeypatch.setattr("conformance.records.plugin.plugins", lambda _kind: first | own)

    with pytest.raises(ValueError, match="flight: another protocol has a step called 'read-rows'"):
        all_steps.__wrapped__()


@pytest.mark.parametrize("kind", [kind for kind in all_steps() if issubclass(kind, CallStep)])
def test_a_step_that_calls_says_what_it_expects(kind: type[Step]) -> None:
    """Judging takes the permitted statuses from there."""
    assert "expect" in kind.__dataclass_fields__


def test_a_record_of_an_unknown_protocol_is_refused() -> None:
    """The words are those of the folders that there are."""
    stored = to_json(Case("a", "A", Table((), rows=()))) | {"protocol": "carrier-pigeon"}

    with pytest.raises(RecordError, match=r"Case\.protocol: expected one of storage-read, flight, storage-write but"):
        from_json(Case, stored)
