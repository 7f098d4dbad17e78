"""Which messages an exchange shows, and whether all of them are clean, so that most clauses need not look."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from conformance import wire
from conformance.contract import messages
from conformance.contract.clause import Violation, load_chapters
from conformance.contract.files import FILES_CASE
from conformance.contract.messages import MessageAspect, Messages, ShownMessages
from conformance.contract.view import View
from conformance.records import Call, Exchange
from tests.wire.forge import RECORD_BATCH, Forge, encapsulate

load_chapters()
BATCH = pa.RecordBatch.from_pydict({"n": pa.array([1, 2])})
SCHEMA_BYTES, BATCH_BYTES = (one.serialize().to_pybytes() for one in (BATCH.schema, BATCH))
LEGACY = BATCH_BYTES[4:]
NOISE = b"\x07" * 40


def view_of(schema: bytes = b"", *batches: bytes) -> View:
    """The view of a serializer that made these messages."""
    calls = [Call(0, "", "SerializeSchema", b"", (schema,))] if schema else []
    calls += [Call(0, "", "SerializeBatch", b"", (batch,)) for batch in batches]
    return View(FILES_CASE, Exchange(FILES_CASE.id, "files", tuple(calls)), pa.table({}))


@pytest.mark.parametrize(
    ("given", "state"),
    [
        ((), ShownMessages.NOTHING),
        ((SCHEMA_BYTES,), ShownMessages.SCHEMAS),
        ((SCHEMA_BYTES, BATCH_BYTES), ShownMessages.SCHEMAS | ShownMessages.BATCHES),
        ((SCHEMA_BYTES, BATCH_BYTES, BATCH_BYTES), ShownMessages.EVERY),
        ((SCHEMA_BYTES, BATCH_BYTES, LEGACY), None),
        ((SCHEMA_BYTES, NOISE), None),
        ((SCHEMA_BYTES, SCHEMA_BYTES), None),
        ((SCHEMA_BYTES, b""), None),
        ((NOISE, BATCH_BYTES), None),
        ((BATCH_BYTES, BATCH_BYTES), None),
        ((b"", BATCH_BYTES), None),
    ],
)
def test_clean_messages_are_known_by_their_kinds(given: tuple[bytes, ...], state: ShownMessages | None) -> None:
    """One message with a fault, of another kind, or without what describes it, and every clause has to look."""
    assert MessageAspect().state(view_of(*given)) == state


def test_a_message_that_breaks_a_check_of_schemas_is_not_clean() -> None:
    """Each schema is checked, however good the message is."""
    aspect = MessageAspect()
    aspect.add(lambda schema: [Violation("no n", "n")] if any(field.name == "n" for field in schema.fields) else [])

    other = pa.schema([pa.field("m", pa.int64())]).serialize().to_pybytes()
    assert aspect.state(view_of(SCHEMA_BYTES)) is None
    assert aspect.state(view_of(other)) is ShownMessages.SCHEMAS


def test_a_schema_is_checked_once_and_a_bounded_number_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch has the schema of its session; when as many are known as may be, all of them are forgotten."""
    monkeypatch.setattr(messages, "MAX_REMEMBERED", 2)
    checked: list[str] = []

    def check(schema: wire.Schema) -> Iterator[Violation]:
        checked.append(schema.fields[0].name or "")
        yield from ()

    aspect = MessageAspect()
    aspect.add(check)
    one, two, three = (
        view_of(pa.schema([pa.field(name, pa.int64())]).serialize().to_pybytes()).schemas[0] for name in "abc"
    )

    for message in (one, one, two, one, two):
        assert aspect.found(message, check) == ()
    assert checked == ["a", "b"]
    for message in (three, three, one, two):
        aspect.found(message, check)
    assert checked == ["a", "b", "c", "a", "b"]


@pytest.mark.parametrize(
    ("selector", "shown"),
    [
        (messages.schemas, (True, False)),
        (messages.batches, (False, True)),
        (messages.messages, (True, True)),
        (messages.prefixed, (True, True)),
        (messages.written, (True, True)),
        (messages.written_schemas, (True, False)),
        (messages.written_batches, (False, True)),
        (messages.legible_schemas, (True, False)),
        (messages.bodies, (False, True)),
    ],
)
def test_a_selector_shows_its_kinds(selector: Messages[messages.Message], shown: tuple[bool, bool]) -> None:
    """What it says of an exchange that is clean is what it finds in one."""
    states = (ShownMessages.SCHEMAS, ShownMessages.BATCHES)
    assert tuple(selector.shown_by(state) for state in states) == shown
    assert selector.shown_by(ShownMessages.EVERY)
    assert not selector.shown_by(ShownMessages.NOTHING)

    view = view_of(SCHEMA_BYTES, BATCH_BYTES)
    assert list(selector(view)) == [
        one for some, kind in zip(([*view.schemas], [*view.batches]), shown, strict=True) for one in some if kind
    ]


@pytest.mark.parametrize(
    ("batch", "prefixed", "written", "bodies"),
    [
        (BATCH_BYTES, True, True, True),
        (LEGACY, False, True, True),
        (NOISE, False, False, False),
        (b"", False, False, False),
        (SCHEMA_BYTES, True, True, False),
    ],
)
def test_what_begins_like_a_message_is_judged_as_one(
    batch: bytes, *, prefixed: bool, written: bool, bodies: bool
) -> None:
    """A message of the old framing is one without the prefix; noise is none; a schema leads to no body."""
    view = view_of(SCHEMA_BYTES, batch)
    (subject,) = view.batches

    found = (subject in messages.prefixed(view), subject in messages.written(view), subject in messages.bodies(view))
    assert found == (prefixed, written, bodies)
    assert (subject in messages.written_batches(view)) is written


def test_a_batch_whose_metadata_cannot_be_followed_has_no_body() -> None:
    """Buffers that its metadata does not lead to are judged by no clause on bodies."""
    forge = Forge()
    header = {"length": 2, "nodes": [(2, 0)], "buffers": [(0, 0), (0, 16)]}
    root = {"version": 4, "header_type": RECORD_BATCH, "header": header, "bodyLength": 16}
    whole = view_of(SCHEMA_BYTES, encapsulate(forge.root("Message", root), bytes(16)))
    forge.patch(forge.places["Message.header.nodes()"], "<I", 1 << 30)
    broken = view_of(SCHEMA_BYTES, encapsulate(bytes(forge.out), bytes(16)))

    assert [len(messages.written(view)) for view in (whole, broken)] == [2, 2]
    assert [len(messages.bodies(view)) for view in (whole, broken)] == [1, 0]
