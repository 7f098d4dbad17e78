"""The Storage Read API for a replay server."""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.readers.tape import tapes_of
from conformance.records import Case, Exchange
from conformance.replay.plugin import ReplayPlugin
from conformance.replay.sessions import SessionAnswers


def _facts(method: str, request: bytes) -> Mapping[str, Any]:
    """What a request asks for; nothing if it is no such message."""
    try:
        asked = proto.REQUESTS[method].FromString(request)
    except DecodeError:
        return {}
    match method:
        case "CreateReadSession":
            session = asked.read_session
            return {
                "table": session.table,
                "parent": asked.parent,
                "data_format": int(session.data_format),
                "selected_fields": list(session.read_options.selected_fields),
                "row_restriction": session.read_options.row_restriction,
                "max_stream_count": asked.max_stream_count,
                "preferred_min_stream_count": asked.preferred_min_stream_count,
            }
        case "ReadRows":
            return {"stream": asked.read_stream, "offset": asked.offset}
        case _:
            return {"stream": asked.name, "fraction": asked.fraction}


def _key(method: str, request: bytes) -> str:
    """A call finds its recording by its stream, or by its table."""
    facts = _facts(method, request)
    return str(facts.get("stream") or facts.get("table") or "")


def _described(method: str, key: str) -> str:
    return f"{method} of {key!r}"


def _recorded(case: Case, exchange: Exchange) -> SessionAnswers:
    return SessionAnswers(tapes_of(case, exchange))


PLUGIN: Final = ReplayPlugin(key=_key, described=_described, facts=_facts, recorded=_recorded)
