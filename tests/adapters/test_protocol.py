"""The protocol that every adapter speaks: a line in, a line out, whatever the line holds."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.readers.ipc.job import KINDS, READ_OPTIONS, WRITE_OPTIONS
from tests.adapters.conftest import BUILT, NONE_BUILT, Program
from tests.adapters.families import FAMILIES, stream_of

pytestmark = pytest.mark.slow(env="adapters")

if not BUILT:
    pytest.skip(NONE_BUILT, allow_module_level=True)

WRITES_TOO = {"arrow-cpp": ("tensor",)}
"""What adapters write beside streams and files."""


def test_hello_tells_who_and_what(program: Program) -> None:
    """Name, version, kinds and options, these of the closed vocabulary and each with a list of its values."""
    hello = program.ask("hello")

    assert hello["status"] == "ok"
    assert hello["protocol"] == 1
    assert hello["implementation"] == program.name
    assert hello["version"] == program.version
    assert all(hello[key] for key in ("title", "language"))
    assert {"stream", "file"} <= set(hello["reads"]) <= set(KINDS)
    assert set(hello["writes"]) == {"stream", "file", *WRITES_TOO.get(program.name, ())}
    assert hello["read_options"].keys() <= READ_OPTIONS.keys()
    assert hello["write_options"].keys() <= WRITE_OPTIONS.keys()
    assert all(isinstance(values, list) for values in {**hello["read_options"], **hello["write_options"]}.values())


def test_every_offered_value_of_an_option_is_taken(program: Program) -> None:
    """The adapter can do everything that its hello lists."""
    hello = program.ask("hello")
    data = stream_of(FAMILIES["bool"]())

    for op in ("read", "write"):
        for name, values in hello[f"{op}_options"].items():
            for value in values:
                answer = program.ask(op, kind="stream", data=data, options={name: value})
                assert answer["status"] == "ok", (op, name, value, answer)


@pytest.mark.parametrize(
    ("op", "members"),
    [
        ("nothing", {}),
        ("read", {"kind": "tensor"}),
        ("write", {"kind": "message"}),
        ("read", {"kind": "stream", "options": {"included_fields": [0]}}),
        ("write", {"kind": "stream", "options": {"alignment": 64}}),
        ("write", {"kind": "stream", "options": {"codec": "snappy"}}),
    ],
    ids=["operation", "kind", "kind to write", "reading", "writing", "codec"],
)
def test_what_cannot_be_asked_is_unsupported(program: Program, op: str, members: dict[str, Any]) -> None:
    """An operation, kind or option that the library lacks is reported as unsupported, not as its error."""
    offered = program.ask("hello").get(f"{op}_options", {})
    if any(
        name in offered and value in (offered[name] or [value]) for name, value in members.get("options", {}).items()
    ):
        pytest.skip(f"{program.name} has the option")
    answer = program.ask(op, data=stream_of(FAMILIES["bool"]()), **members)

    assert answer["status"] == "unsupported"
    assert answer["message"]


def test_a_line_that_is_no_json_is_answered(program: Program) -> None:
    """The answer has no id to repeat, and the next request has."""
    broken = program.line(b"no json {")

    assert broken["id"] is None
    assert broken["status"] == "error"
    assert program.ask("hello")["status"] == "ok"


@pytest.mark.parametrize("number", [b'"job-7"', b"7"])
def test_the_id_is_repeated_as_it_is(program: Program, number: bytes) -> None:
    """A number or a text."""
    answer = program.line(b'{"id": ' + number + b', "op": "hello"}')

    assert answer["id"] in ("job-7", 7)
