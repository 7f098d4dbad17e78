"""Recordings from logs, truth packs and messages."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from conformance.contract import proto
from conformance.readers.tape import Tapes
from conformance.records import Call, RecordError, to_json
from conformance.replay.loading import from_message, from_pack, held
from conformance.replay.sessions import SessionAnswers, renamed
from conformance.replay.shelf import Held
from tests.readers.recorded import SCHEMA, TABLE, batch, bytes_of, case, create, of_calls, read, response, stream
from tests.truth.packs import pack_in, recorded

ONE = response(bytes_of(batch(1, 2)), 2, schema=bytes_of(SCHEMA))


def tapes_in(one: Held) -> Tapes:
    """The tapes of a recording of sessions."""
    assert isinstance(one.answers, SessionAnswers)
    return one.answers.tapes


def test_a_truth_pack_has_a_table_of_its_own_for_each_case(tmp_path: Path) -> None:
    """References become names that differ, so that all of a pack can be served together."""
    found = list(from_pack(pack_in(tmp_path, recorded())))
    names = [name for one in found for name in one.names()]

    assert found
    assert len(set(names)) == sum(
        len({tape.table for tape in tapes}) + sum(1 for _ in tapes.streams()) for tapes in map(tapes_in, found)
    )
    assert any(tape.described is not None and tape.described.rows for one in found for tape in tapes_in(one))


def test_a_recording_under_another_name_answers_what_it_did() -> None:
    """Session, streams and splits get other names; the responses stay as they are."""
    asked = proto.SplitReadStreamRequest(name=stream(), fraction=0.5)
    answer = proto.SplitReadStreamResponse()
    answer.primary_stream.name = stream(5)
    split = Call(1, "s", "SplitReadStream", asked.SerializeToString(), (answer.SerializeToString(),))
    exchange = of_calls(create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE]), split, read(stream(5), [ONE]))
    (tape,) = tapes_in(held(case(), exchange))

    other = renamed(tape, TABLE + "2", "9")
    session = proto.ReadSession.FromString(other.session)

    assert (session.table, session.name) == (TABLE + "2", "projects/p/locations/us/sessions/s-9")
    assert [one.name for one in session.streams] == [other.streams[0].name] != [stream()]
    assert [one.responses for one in other.streams] == [(ONE,), (ONE,)]
    assert proto.SplitReadStreamResponse.FromString(other.splits[0][1]).primary_stream.name == other.streams[1].name


def test_one_case_of_a_message() -> None:
    """The message has case and exchange as a log has them, and may name the recording."""
    exchange = of_calls(create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE]))

    (one,) = from_message({"case": to_json(case()), "exchange": to_json(exchange), "name": "mine", "slow": 2}, "1")

    assert (one.name, one.slow, one.table) == ("mine", 2.0, TABLE)


@pytest.mark.parametrize("slow", [10**400, "fast", [1], [], "", True, -1, math.nan, math.inf, 1e308 * 10])
def test_a_pace_that_is_no_number_is_refused(slow: object) -> None:
    """A server would otherwise end its connection without an answer."""
    exchange = of_calls(create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE]))

    with pytest.raises(RecordError, match="slow"):
        list(from_message({"case": to_json(case()), "exchange": to_json(exchange), "slow": slow}, "1"))


@pytest.mark.parametrize("key", ["name", "table", "only", "path"])
def test_a_name_that_is_no_text_is_refused(key: str) -> None:
    """It would otherwise be that of a Python object."""
    exchange = of_calls(create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE]))

    with pytest.raises(RecordError, match=rf"{key}: expected a text but got \['a'\]"):
        list(from_message({"case": to_json(case()), "exchange": to_json(exchange), key: ["a"]}, "1"))


def test_a_message_with_an_unknown_key_is_refused() -> None:
    """The error names the keys that there are."""
    with pytest.raises(RecordError, match="one of the keys case, exchange, faults, name, only, path, slow, table"):
        list(from_message({"pth": "x"}, "1"))
