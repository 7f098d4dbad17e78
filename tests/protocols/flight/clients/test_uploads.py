"""What a client uploads is read strictly, and compared with what its program wrote."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pytest

from conformance.protocols.flight.clients.streams import NAME, encoded
from conformance.protocols.flight.clients.uploads import UPLOADED, uploaded_wrongly
from conformance.protocols.flight.contract.encoding import data, descriptor
from conformance.protocols.flight.records import Descriptor

NAMED = descriptor(Descriptor(path=(NAME,)))


def upload(
    *, of: bytes | None = NAMED, rows: Iterable[pa.RecordBatch] = (UPLOADED,), apart: bool = False
) -> tuple[bytes, ...]:
    """The messages of an upload; with ``apart``, the descriptor comes in a message of its own."""
    header, *batches = encoded([*rows])
    schema = data(header.header, of=None if apart else of)
    return (*((data(of=of),) if apart else ()), schema, *(data(one.header, one.body) for one in batches))


def faults(method: str, messages: tuple[bytes, ...]) -> list[str]:
    """The complaints about one call."""
    return list(uploaded_wrongly([{"method": method, "requests": messages}]))


@pytest.mark.parametrize("method", ["DoPut", "DoExchange"])
@pytest.mark.parametrize("apart", [False, True])
def test_what_was_written_is_right(method: str, apart: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """The descriptor may come before the schema."""
    assert faults(method, upload(apart=apart)) == []


def test_rows_may_come_in_several_batches() -> None:
    """How many batches there are is the library's choice."""
    assert faults("DoPut", upload(rows=[UPLOADED.slice(0, 1), UPLOADED.slice(1)])) == []


def test_an_exchange_may_have_no_descriptor() -> None:
    """Flight.proto calls it relevant for DoPut."""
    assert faults("DoExchange", upload(of=None)) == []
    assert faults("DoPut", upload(of=None)) == ["its DoPut has no descriptor in its first message"]


def test_another_descriptor_is_told() -> None:
    """The upload would be stored under another name."""
    other = descriptor(Descriptor(path=("other",)))

    assert faults("DoPut", upload(of=other)) == ["its DoPut has path 'other'"]


def test_other_rows_are_told() -> None:
    """Fewer rows, and rows of another column."""
    (few,) = faults("DoPut", upload(rows=[UPLOADED.slice(0, 2)]))
    (renamed,) = faults("DoPut", upload(rows=[UPLOADED.rename_columns(["word"])]))

    assert few == "its DoPut has the columns {'number': [1, 2]}, and the program wrote {'number': [1, 2, 3]}"
    assert renamed.startswith("its DoPut has the columns {'word': [1, 2, 3]}")


def test_a_message_that_breaks_the_format_is_told_with_its_place() -> None:
    """The body of the batch is cut."""
    whole = encoded([UPLOADED])
    sent = (data(whole[0].header, of=NAMED), data(whole[1].header, whole[1].body[:8]))

    (found,) = faults("DoPut", sent)

    assert found.startswith("its DoPut has in message 1 ")


@pytest.mark.parametrize("messages", [(b"",), (b"\xff",), (data(of=NAMED),)])
def test_an_upload_without_a_stream_is_told(messages: tuple[bytes, ...]) -> None:
    """Nothing, no protobuf, and a descriptor alone."""
    assert faults("DoPut", messages)


def test_other_calls_are_not_uploads() -> None:
    """Their requests are no data."""
    assert faults("DoGet", (b"ticket",)) == []
