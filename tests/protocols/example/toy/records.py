"""The step of a case of the toy protocol."""

from typing import ClassVar, Final

from conformance.records import CallStep, Expect, RecordsPlugin
from conformance.records.base import record


@record
class Say(CallStep):
    """Call Say with ``words``."""

    TAG: ClassVar[str] = "toy-say"

    words: str
    expect: Expect = Expect()


PLUGIN: Final = RecordsPlugin((Say,))
