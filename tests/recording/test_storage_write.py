"""The proxy in front of a server of the Storage Write API: what it keeps is judged, and answers the client again."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest

from conformance.engine.corpus import load_corpus
from conformance.engine.recorded import read_recorded
from conformance.engine.result import fold
from conformance.generate import materialise
from conformance.protocol import plugin
from conformance.protocols.storage_write.targets.requests import finalize_request
from conformance.protocols.storage_write.wire.messages import METHOD_PATHS, SERVICE
from conformance.records import Call, Outcome
from conformance.reference.plugin import ReferencePlugin
from conformance.replay.loading import from_log
from conformance.replay.server import Replay
from conformance.targets import open_target
from conformance.targets.endpoint import Endpoint
from conformance.targets.spec import TargetSpec
from tests.recording.running import recording

REFERENCE = plugin(ReferencePlugin, "storage-write")
CASES = load_corpus(protocol="storage-write")


def kept(log: Path, *names: str, mutant: str | None = None) -> list[Call]:
    """Put cases to the reference, or to a mutant, behind the proxy; the calls as the driver saw them."""
    deviation = None if mutant is None else f"storage-write.{mutant}"
    with REFERENCE.listening(deviation) as spec, recording(spec.endpoint.grpc, log) as (proxy, _):
        proxied = TargetSpec("proxied", spec.kind, endpoint=Endpoint(grpc=proxy.grpc, rest=spec.endpoint.rest))
        with open_target(proxied, alone=True) as target:
            cases = [CASES[f"storage-write.{name}"] for name in names]
            return [call for case in cases for call in target.drive(case, materialise(case.table)).calls]


def outcomes(log: Path, outcome: Outcome) -> set[str]:
    """The clauses on writes that have this outcome on a log without cases."""
    verdicts = fold(read_recorded(log).judged()).verdicts
    return {one.clause for one in verdicts if one.outcome is outcome and one.clause.startswith("storage-write")}


def test_what_a_correct_server_answers_passes(tmp_path: Path) -> None:
    """Streams of each type, wrong offsets and a full stream in place of a batch, without a word on what was asked."""
    log = tmp_path / "said.log"
    kept(log, "committed", "pending", "buffered", "offsets", "framing.stream-as-batch")

    assert outcomes(log, Outcome.FAIL) == set()
    assert outcomes(log, Outcome.PASS) >= {
        "storage-write-finish.finalize-counts-the-rows",
        "storage-write-framing.full-stream-is-refused",
        "storage-write-offset.behind-the-end-is-refused",
        "storage-write-offset.is-that-of-the-first-row",
    }


@pytest.mark.parametrize(
    ("mutant", "name", "clause"),
    [
        ("offset-behind-the-rows", "offsets", "storage-write-offset.is-that-of-the-first-row"),
        ("streams-taken", "framing.stream-as-batch", "storage-write-framing.full-stream-is-refused"),
    ],
)
def test_a_wrong_answer_fails(tmp_path: Path, mutant: str, name: str, clause: str) -> None:
    """By the clause that says so where the case is known."""
    kept(tmp_path / "said.log", name, mutant=mutant)

    assert clause in outcomes(tmp_path / "said.log", Outcome.FAIL)


def test_a_client_gets_the_answers_that_were_recorded(tmp_path: Path) -> None:
    """Each call by the stream or the table that it names, in the turns of the recording."""
    log = tmp_path / "said.log"
    wanted = [call for call in kept(log, "committed") if SERVICE + call.method in METHOD_PATHS]

    with Replay(log=tmp_path / "asked.log", tls=False) as server:
        for one in from_log(log):
            server.shelf.put(one)
        with grpc.insecure_channel(f"127.0.0.1:{server.addresses['grpc']}") as channel:
            came = [tuple(channel.stream_stream(SERVICE + call.method)(iter(call.requests))) for call in wanted]
            other = finalize_request("projects/p/datasets/d/tables/t/streams/other")
            with pytest.raises(grpc.RpcError, match="FinalizeWriteStream projects/p/datasets/d/tables/t/streams/other"):
                channel.unary_unary(SERVICE + "FinalizeWriteStream")(other)

    assert {call.method for call in wanted} >= {"CreateWriteStream", "AppendRows"}
    assert came == [call.responses for call in wanted]
