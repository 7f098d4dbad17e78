"""However the tables got into the server, and whatever an earlier run left there, the verdicts are the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.engine.corpus import load_corpus
from conformance.engine.events import CaseJudged
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.engine.session import Settings, open_session
from conformance.protocols.storage_read.reference.rest import Api
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.records import AppendRows, Outcome
from conformance.reference.delays import Delays
from conformance.targets import TargetSpec, load_target, prepare
from conformance.targets.projects import with_project
from conformance.targets.tablefiles import not_preloadable, write_tables
from tests.certificates import make_certificates
from tests.service import TOKEN, VARIABLE, served, service_file
from tests.targets.conftest import ROOT

CASES = load_corpus()
SELECT = (
    *("types.every-type", "types.every-type-required", "types.range-required", "types.numeric-parameters"),
    *("shapes.no-rows", "shapes.names-in-unicode", "shapes.lists-inside-records", "rows.several-streams"),
    *("snapshot.new-session", "errors.missing-table", "session.plain", "rows.one-row", "types.int64"),
)
"""Each type, deep nesting, many rows, rows that are appended, and a table that does not exist."""

STARTED = """
name = "mine"
kind = "server"
[start]
command = ["{python}", "-m", "conformance.reference", "--host", "{host}"MORE]
[ready]
grpc_event = "grpc.listen"
"""
REST = 'rest_event = "rest.listen"\n'

PRELOADED = """
[seed]
paths = ["preloaded"]
dataset = "d"
[seed.preloaded]
tables = "tables"
table = "fixture_{table}"
"""

Verdicts = dict[tuple[str, str], str]


def verdicts(spec: TargetSpec) -> Verdicts:
    """The outcomes of all clauses on the selected cases."""
    selection = Selection(SELECT)
    chosen = plan(list(CASES.values()), all_clauses(), selection)
    with open_session(spec, chosen, selection, Settings(readers=False), corpus=list(CASES.values())) as session:
        judged = [event for event in session.events() if isinstance(event, CaseJudged)]
    return {(case.case_id, verdict.clause): verdict.outcome for case in judged for verdict in case.verdicts}


@pytest.fixture(scope="module")
def over_rest(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """The verdicts on the reference, seeded by insertAll."""
    return verdicts(written(tmp_path_factory.mktemp("rest"), STARTED.replace("MORE", "") + REST))


def written(folder: Path, text: str) -> TargetSpec:
    """The target in a file with ``text``."""
    path = folder / "target.toml"
    path.write_text(text)
    return load_target(path)


def test_a_server_that_reads_tables_itself_gets_the_same_verdicts(over_rest: Verdicts, tmp_path: Path) -> None:
    """A server without REST is judged in full, if its process makes the tables that it is sent."""
    text = STARTED.replace("MORE", ', "--tables-on-stdin"') + '[seed]\npaths = ["program"]\n'

    assert verdicts(written(tmp_path, text)) == over_rest


@pytest.mark.slow(env="environments")
def test_a_program_in_go_gets_the_same_verdicts(
    over_rest: Verdicts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documented example carries every type."""
    if shutil.which("go") is None:
        pytest.skip("this machine has no go command")
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))
    spec = load_target(ROOT / "docs" / "examples" / "seeder" / "target.toml")
    prepare(spec, say=lambda text: None)

    assert verdicts(spec) == over_rest


@pytest.fixture
def running() -> Iterator[ReferenceServer]:
    """A server that the suite did not start."""
    with ReferenceServer() as server:
        yield server


def endpoint(server: ReferenceServer, *, rest: bool = True) -> str:
    """The target file of a running server."""
    address = f"http://{server.rest_endpoint}" if rest else ""
    return f'name = "mine"\nkind = "server"\n[endpoint]\ngrpc = "{server.grpc_endpoint}"\nrest = "{address}"\n'


def test_preloaded_tables_get_the_same_verdicts(over_rest: Verdicts, running: ReferenceServer, tmp_path: Path) -> None:
    """A server that nothing can be put into is judged on tables of its owner, except where the case adds rows."""
    chosen = [CASES[name] for name in SELECT]
    write_tables(chosen, tmp_path / "tables", project="p", dataset="d")
    load(running, tmp_path / "tables")
    spec = written(
        tmp_path,
        endpoint(running, rest=False) + PRELOADED,
    )
    carried = {case.id for case in chosen if not not_preloadable(case)}

    found = verdicts(spec)

    assert {key: outcome for key, outcome in found.items() if key[0] in carried} == {
        key: outcome for key, outcome in over_rest.items() if key[0] in carried
    }
    others = {case_id for (case_id, _), outcome in found.items() if outcome == Outcome.UNTESTABLE}
    assert others == {case.id for case in chosen if any(isinstance(step, AppendRows) for step in case.steps)}


def load(server: ReferenceServer, folder: Path) -> None:
    """Put the tables into the server as their owner would, from schema and rows."""
    api = Api(server.service)
    server.catalogue.create_dataset("test-project", "d")
    for one in json.loads((folder / "index.json").read_text())["tables"]:
        fields = json.loads((folder / f"{one['table']}.schema.json").read_text())
        named = {"tableReference": {"tableId": f"fixture_{one['table']}"}, "schema": {"fields": fields}}
        api.insert_table(named, {}, "test-project", "d")
        if one["rows"]:
            lines = (folder / f"{one['table']}.jsonl").read_text().rstrip("\n").split("\n")
            rows = [{"json": json.loads(line)} for line in lines]
            said = api.insert_all({"rows": rows}, {}, "test-project", "d", f"fixture_{one['table']}")
            assert "insertErrors" not in said


def test_a_server_that_goes_on_gets_the_same_verdicts_again(
    over_rest: Verdicts, running: ReferenceServer, tmp_path: Path
) -> None:
    """Two runs against one process: neither loses a verdict, and no table is left."""
    spec = written(tmp_path, endpoint(running))

    assert verdicts(spec) == over_rest
    assert verdicts(spec) == over_rest
    assert not running.catalogue._tables


def test_a_started_server_that_keeps_its_tables_gets_the_same_verdicts(over_rest: Verdicts, tmp_path: Path) -> None:
    """A server with a data directory answers 409 where an earlier run made the table; no verdict is lost."""
    (tmp_path / "keeping.py").write_text(KEEPING)
    command = f'["{{python}}", "{tmp_path}/keeping.py", "{tmp_path}/names"]'
    text = f'name = "mine"\nkind = "server"\n[start]\ncommand = {command}\n[ready]\ngrpc_event = "grpc.listen"\n{REST}'
    spec = written(tmp_path, text)

    assert verdicts(spec) == over_rest
    kept = (tmp_path / "names").read_text()
    assert verdicts(spec) == over_rest
    assert len((tmp_path / "names").read_text()) > len(kept)


KEEPING = '''
"""The reference, which remembers the names of its tables in a file, as a server with a data directory does."""
import functools
import sys
from pathlib import Path

from conformance.protocols.storage_read.reference import serving as reference
from conformance.protocols.storage_read.reference.catalogue import AlreadyExistsError, Catalogue

names = Path(sys.argv[1])
kept = set(names.read_text().splitlines()) if names.exists() else set()
create = Catalogue.create_table


def create_table(self, table, columns):
    """Refuse a table of an earlier process."""
    if str(table) in kept:
        raise AlreadyExistsError(f"Already Exists: Table {table}")
    create(self, table, columns)
    with names.open("a") as file:
        file.write(f"{table}\\n")


Catalogue.create_table = create_table
reference.serve(say=functools.partial(print, flush=True))
'''


@pytest.mark.parametrize("first", ["load-avro", "load"])
def test_each_format_of_load_jobs_gets_the_same_verdicts(over_rest: Verdicts, tmp_path: Path, first: str) -> None:
    """Avro carries most types, too; what one format does not carry comes by the next path."""
    text = f'[seed]\npaths = ["{first}", "rest"]\n'

    assert verdicts(written(tmp_path, STARTED.replace("MORE", "") + REST + text)) == over_rest


def test_the_file_of_the_service_gets_the_same_verdicts(
    over_rest: Verdicts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TLS, tokens, slow jobs, late rows and quotas in the middle change no verdict, and nothing is left."""
    certificates = make_certificates(tmp_path)
    monkeypatch.setenv(VARIABLE, TOKEN)
    delays = Delays(job_polls=1, limited_jobs=3, hidden_polls=1)
    quotas = {"quota_requests": 20, "refused_requests": 3, "quota_calls": 12, "refused_calls": 3}
    with served(certificates, delays=delays, **quotas) as server:
        spec = with_project(written(tmp_path, service_file(server, certificates)), "mine")

        assert verdicts(spec) == over_rest
        assert not server.catalogue._datasets
