"""``conformance run`` on the service's own target file: what it says first, what it stops at, and what it leaves."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click.testing
import pytest

from conformance.engine.log import read_log
from conformance.protocols.storage_read.reference.rest import _DATASETS, _ROUTES, Api
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.reference.delays import Delays
from tests.certificates import make_certificates
from tests.cli.typed import conformance_
from tests.interrupts import interrupts
from tests.service import TOKEN, VARIABLE, served, service_file

Serve = Callable[..., ReferenceServer]

CASES = ("types.int64", "types.json", "types.interval", "types.date", "errors.missing-table")
SELECTED = [word for case in CASES for word in ("--select", case)]
PROJECT = "GOOGLE_CLOUD_PROJECT"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the certificates."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def serve(certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """References that end with the test; ``bigquery.toml`` points at the last one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, TOKEN)
    monkeypatch.delenv(PROJECT, raising=False)
    with ExitStack() as stack:

        def start(*, changes: dict[str, str] | None = None, **options: Any) -> ReferenceServer:
            server = stack.enter_context(served(certificates, **options))
            Path("bigquery.toml").write_text(service_file(server, certificates, **(changes or {})))
            return server

        yield start


def run(*more: str) -> click.testing.Result:
    """Judge the server by a few cases, without readers."""
    options = ("--target", "bigquery.toml", "--project", "mine", "--no-readers", "--all")
    return conformance_("run", *options, *SELECTED, *more)


def not_asked() -> list[str]:
    """The cases that the set-up kept from being asked, by the log."""
    judged = [event for event in read_log(Path(".conformance/bigquery.jsonl")) if hasattr(event, "verdicts")]
    return [event.case_id for event in judged if event.verdicts[0].reason.startswith("set-up: ")]


def test_a_run_says_first_what_it_reads_and_leaves_nothing(serve: Serve) -> None:
    """The estimate comes before the report, and the dataset is gone."""
    server = serve()

    result = run()

    assert result.exit_code == 0, result.output
    assert re.match(
        r"estimate: 5 tables with .* are loaded, and about .* are read by 5 reads: less than \$0\.01 at \$1\.10 per TiB"
        r" \(https://cloud\.google\.com/bigquery/pricing, October 2026; your price may differ\);"
        r" the run stops at 10\.0 GiB read\n",
        result.stderr,
    )
    assert "PASSED" in result.output
    assert re.search(r"the run read \d+\.\d KiB, by the server's own estimates and by what arrived", result.output)
    assert not server.catalogue._datasets


def test_slow_jobs_late_rows_and_quotas_cost_no_verdict(serve: Serve) -> None:
    """The run waits, asks again, counts how often, and passes."""
    server = serve(
        delays=Delays(job_polls=2, limited_jobs=2, hidden_polls=2),
        quota_requests=3,
        refused_requests=2,
        quota_calls=4,
        refused_calls=2,
    )

    result = run()

    assert (result.exit_code, not_asked()) == (0, []), result.output
    said = (
        r"requests that a quota or rate limit refused: [5-9] sent again, 0 given up; no verdict rests on such a refusal"
    )
    assert re.search(said, result.output), result.output
    assert not server.catalogue._datasets


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"without_jobs": True},
            (
                "the credentials lack a permission, not even for a plain request (POST"
                " /upload/bigquery/v2/projects/mine/jobs?uploadType=multipart: HTTP 403 Access Denied: User does not"
                " have bigquery.jobs.create permission in project)"
            ),
        ),
        (
            {"token_requests": 0},
            (
                "the server does not accept the credentials, not even for a plain request (POST"
                " /bigquery/v2/projects/mine/datasets: HTTP 401 The access token has expired.)"
            ),
        ),
        (
            {"quota_requests": 0},
            (
                "a quota is exceeded, not even for a plain request (POST /bigquery/v2/projects/mine/datasets: HTTP 403"
                " Quota exceeded: Your project exceeded quota for API requests per user)"
            ),
        ),
    ],
)
def test_what_is_not_permitted_over_rest_is_one_sentence(
    serve: Serve, options: dict[str, object], sentence: str
) -> None:
    """Nothing can be judged, and no clause failed; a job that may not run leaves no way over."""
    serve(changes={'"load-avro", "load", "rest"': '"load-avro", "load"'}, **options)

    result = run()

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].endswith(f"bigquery.toml: {sentence}")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"quota_requests": 12}, "a quota is exceeded"),
        (
            {
                "delays": Delays(limited_jobs=1000),
                "changes": {'"load-avro", "load", "rest"': '"load-avro"'},
            },
            "a quota is exceeded",
        ),
        ({"token_requests": 18}, "the server does not accept the credentials"),
    ],
)
def test_a_refusal_of_rest_in_the_middle_is_no_failure(serve: Serve, options: dict[str, Any], sentence: str) -> None:
    """What was judged before is kept, the rest is untestable by name, and the run is incomplete."""
    serve(**options)

    result = run("--no-smoke")

    assert result.exit_code in (1, 2)
    assert f"set-up: {sentence}, not even for a plain request (" in result.output
    assert "FAIL " not in result.output


def test_a_run_stops_at_its_limit_with_what_it_judged(serve: Serve) -> None:
    """The cases before it keep their verdicts, those after it are not asked."""
    server = serve()
    server.service.estimate_bytes = lambda _: 1 << 30  # type: ignore[method-assign]  # the server's own words

    result = run("--no-smoke", "--max-bytes", "3000000000")

    lost = not_asked()
    assert result.exit_code == 1
    assert "INCOMPLETE: set-up: the run has read 3.0 GiB, and its limit is 2.8 GiB (--max-bytes)" in result.output
    assert 0 < len(lost) < len(CASES)
    assert not server.catalogue._datasets


def test_a_run_that_would_exceed_its_limit_does_not_begin(serve: Serve) -> None:
    """Nothing is sent."""
    server = serve()

    result = run("--max-bytes", "10")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: expected a run that reads at most 10 bytes, but the selected cases read about " in result.stderr
    assert server.guard is not None
    assert not server.guard._requests


def test_the_estimate_alone_asks_nothing(serve: Serve) -> None:
    """It needs neither a project nor a server."""
    server = serve()

    result = conformance_("run", "--target", "bigquery", "--estimate")

    assert (result.exit_code, result.stdout) == (0, "")
    assert re.match(r"estimate: \d+ tables with ", result.stderr)
    assert server.guard is not None
    assert not server.guard._used


def test_the_project_comes_from_the_option_or_the_variable(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one, the sentence names both."""
    serve()
    options = ("run", "--target", "bigquery.toml", "--no-readers", "--select", "types.int64", "--no-smoke")

    without = conformance_(*options)
    monkeypatch.setenv(PROJECT, "from-the-variable")
    by_variable = conformance_(*options)
    wrong = conformance_(*options, "--project", "no project")

    assert (without.exit_code, without.stdout) == (2, "")
    assert without.stderr.splitlines()[-1] == (
        "Error: bigquery.toml: expected the project that holds the tables and is billed, got none: give --project ID,"
        " or set the environment variable GOOGLE_CLOUD_PROJECT"
    )
    assert by_variable.exit_code == 0, by_variable.output
    assert wrong.exit_code == 2
    assert "--project: expected a project of letters, digits" in wrong.stderr


def test_a_dataset_that_cannot_be_deleted_is_named(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is printed, the sentence says what to do, and the status is 2."""
    server = serve()
    monkeypatch.setattr(Api, "delete_dataset", lambda *_: 1 / 0)
    monkeypatch.setattr("conformance.protocols.storage_read.reference.rest._ROUTES", _routes_with(Api.delete_dataset))

    result = run()

    assert result.exit_code == 2
    assert "PASSED" in result.output
    said = re.search(r"Error: the dataset mine\.(conformance_[0-9a-f]{16}) could not be deleted \(.*\)", result.stderr)
    assert said is not None, result.stderr
    assert [*server.catalogue._datasets] == [("mine", said[1])]


def _routes_with(delete: Callable[..., Any]) -> tuple[Any, ...]:
    """The routes of the reference with another way of deleting a dataset."""
    pattern = _DATASETS + r"/([^/]+)"
    return tuple(
        (verb, path, delete if (verb, path.pattern) == ("DELETE", pattern) else handler)
        for verb, path, handler in _ROUTES
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_removes_its_dataset(serve: Serve, number: signal.Signals) -> None:
    """The log has what was judged, and the server has no dataset; the command hears Ctrl-C, whoever runs the tests."""
    server = serve()
    command = [sys.executable, "-m", "conformance", "run", "--target", "bigquery.toml", "--project", "mine"]
    log = Path("log.jsonl")
    endless = ("--no-readers", "--no-smoke", "--select", "types.int64", "--repeat", "1000", "--log", str(log))
    with interrupts(heard=True):
        process = subprocess.Popen([*command, *endless], stderr=subprocess.PIPE, text=True)
    with process:
        while process.poll() is None and not (log.exists() and log.read_bytes().count(b'"case-judged"') >= 3):
            threading.Event().wait(0.02)
        made = {*server.catalogue._datasets}
        process.send_signal(number)
        _, said = process.communicate()

    assert len(made) == 1
    assert process.returncode == 1, said
    assert not server.catalogue._datasets


def test_a_limit_belongs_to_a_service(serve: Serve) -> None:
    """Other targets bill nobody."""
    limit = conformance_("run", "--target", "reference", "--max-bytes", "10")
    asked = conformance_("run", "--target", "reference", "--estimate")

    assert (limit.exit_code, asked.exit_code) == (2, 2)
    assert limit.stderr == "Error: expected no --max-bytes for reference, whose target file has no [service]\n"
    assert (
        asked.stderr == "Error: expected a target with a [service] for --estimate, got reference, which bills nobody\n"
    )
