"""A real server of pyarrow.flight, over TLS and at a socket, has the verdicts that it has in plain text."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from conformance.contract.judge import judge_view
from conformance.contract.viewing import view_of
from conformance.engine.offer import Offer
from conformance.generate import materialise
from conformance.protocols.flight.generate.histories import CLOCK, ECHO, draw_history, history_block
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec
from conformance.targets import TargetSpec, load_target, open_target
from conformance.targets.spec import Clock
from tests.certificates import make_certificates
from tests.fixtures import ROOT
from tests.protocols.flight.reference.direct import FIXTURE

pytestmark = pytest.mark.timeout(600)

PROGRAM = ROOT / "targets" / "flight" / "with_pyarrow.py"
OFFER = Offer.of(TargetSpec("with_pyarrow", "flight", own=FlightSpec(FlightSeeding.PUT), clock=Clock("/clock")))
"""What the program offers: it stores tables."""


@contextmanager
def running(transport: str, folder: Path) -> Iterator[TargetSpec]:
    """The program with certificates made for this test, and the target file for where it is."""
    arguments, more = ["127.0.0.1"], ""
    if transport == "tls":
        certificates = make_certificates(folder)
        pair = [str(certificates / "server.pem"), str(certificates / "server.key")]
        arguments, more = ["grpc+tls://127.0.0.1:0", *pair], f'[endpoint.tls]\nca = "{certificates}/ca.pem"\n'
    elif transport == "socket":
        arguments = [f"grpc+unix://{folder}/flight.sock"]
    command = [sys.executable, str(PROGRAM), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = json.loads(process.stdout.readline())["port"]
            uri = {"tls": f"grpc+tls://127.0.0.1:{port}", "socket": arguments[0]}.get(transport, f"127.0.0.1:{port}")
            file = folder / "target.toml"
            head = 'name = "live"\nkind = "flight"\n[flight]\nseeding = "put"\n'
            file.write_text(f'{head}[endpoint]\ngrpc = "{uri}"\n{more}')
            yield load_target(file)
        finally:
            process.kill()


TIMED: Final = "flight.put-given-up."
"""Cases whose later calls find a table or not, as the DoPut was given up sooner or later: failures are compared."""


def verdicts(spec: TargetSpec) -> list[tuple[str, str, str]]:
    """What is judged on every light case that the program can be asked; of timed cases, what fails."""
    found = []
    with open_target(spec) as target:
        for one in FIXTURE.served(()):
            if OFFER.lacks(one.case) or one.case.isolated:
                continue
            exchange = target.drive(one.case, one.table)
            assert not exchange.untestable, exchange.untestable
            view = view_of(one.case, exchange, one.table)
            found += [
                (one.case.id, verdict.clause, verdict.outcome)
                for verdict in judge_view(view, FIXTURE.clauses)
                if verdict.outcome.fails_run or not one.case.id.startswith(TIMED)
            ]
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str]]:
    """The verdicts in plain text, judged once for the tests of this module."""
    with running("plain", tmp_path_factory.mktemp("plain")) as spec:
        return verdicts(spec)


@pytest.mark.parametrize("transport", ["plain", "tls", "socket"])
def test_pyarrow_has_the_verdicts_of_plain_text(
    transport: str, plain: list[tuple[str, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over each transport, and once more in plain text."""
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
    with running(transport, tmp_path) as spec:
        assert verdicts(spec) == plain

    assert len({case for case, _, _ in plain}) > 30
    assert ("flight-put.nothing-is-lost", "fail") in {(clause, outcome) for _, clause, outcome in plain}


def test_pyarrow_keeps_what_two_clients_put(tmp_path: Path) -> None:
    """Drawn histories find nothing in a server that replaces: each block of them has every pair of features."""
    failed = []
    with running("plain", tmp_path) as spec, open_target(spec) as target:
        for index in range(history_block()):
            case = draw_history(1, index, not_offered=(CLOCK, ECHO))
            table = materialise(case.table)
            exchange = target.drive(case, table)
            assert not exchange.untestable, exchange.untestable
            verdicts = judge_view(view_of(case, exchange, table), FIXTURE.clauses)
            failed += [(case.id, one.clause) for one in verdicts if one.outcome.fails_run]

    assert not failed
