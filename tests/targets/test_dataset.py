"""A run makes a dataset of its own, uses no other, and deletes it if it made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.records import BqType, Column
from conformance.targets.dataset import OwnDataset
from conformance.targets.fence import FencedClient
from conformance.targets.names import Names
from conformance.targets.rest import RestClient
from conformance.targets.restway import RestTables
from conformance.targets.service import Service
from conformance.targets.targeterrors import CannotSeed, LeftBehind
from tests.targets.fake_server import FakeServer, serving

NAMES = Names("p", "own", "t")
COLUMNS = (Column("a", BqType.INT64),)
PATH = "/bigquery/v2/projects/p/datasets"


@pytest.fixture
def server() -> Iterator[ReferenceServer]:
    """A reference."""
    with ReferenceServer() as server:
        yield server


TablesOf = Callable[..., RestTables]


@pytest.fixture
def tables_of() -> Iterator[TablesOf]:
    """The tables of a run whose dataset is its own, at an address."""
    with ExitStack() as stack:

        def make(address: str, token: str = "abc") -> RestTables:
            client = FencedClient(f"http://{address}", project="p", dataset="own", deadline=5)
            stack.callback(client.close)
            return RestTables(client, own=OwnDataset(client, NAMES, token, Service(location="EU", expiry=7200)))

        yield make


def test_it_is_made_with_an_expiry_and_labels_and_deleted_with_its_tables(tables_of: TablesOf) -> None:
    """Once, before the first table."""
    fake = FakeServer()
    bodies: list[object] = []

    def rest(method: str, path: str, body: object) -> tuple[int, object] | None:
        bodies.append(body)
        return (200, {"labels": {"conformance-run": "abc"}}) if path == f"{PATH}/own" else (200, {})

    fake.rest = rest
    with serving(fake) as (_, port):
        tables = tables_of(f"127.0.0.1:{port}")
        tables.create(NAMES, COLUMNS, until=1e12)
        tables.create(NAMES, COLUMNS, until=1e12)
        tables.close()

    assert bodies[0] == {
        "datasetReference": {"projectId": "p", "datasetId": "own"},
        "defaultTableExpirationMs": "7200000",
        "labels": {"made-by": "arrow-conformance", "conformance-run": "abc"},
        "location": "EU",
    }
    assert [(method, path.removeprefix(PATH)) for method, path in fake.rest_requests] == [
        ("POST", ""), ("POST", "/own/tables"), ("POST", "/own/tables"), ("GET", "/own"),
        ("DELETE", "/own?deleteContents=true"),
    ]  # fmt: skip


def test_a_dataset_that_is_there_already_is_neither_used_nor_deleted(
    server: ReferenceServer, tables_of: TablesOf
) -> None:
    """Whoever made it."""
    server.catalogue.create_dataset("p", "own")
    tables = tables_of(server.rest_endpoint)

    with pytest.raises(CannotSeed, match=r"HTTP 409 .*, and the run uses none that it did not make"):
        tables.create(NAMES, COLUMNS, until=1e12)
    tables.close()

    assert server.catalogue.has_dataset("p", "own")


def test_a_dataset_of_another_run_is_not_deleted(server: ReferenceServer, tables_of: TablesOf) -> None:
    """Even if an interrupt hid whose it is: the label decides."""
    other = tables_of(server.rest_endpoint, token="other")
    other.create(NAMES, COLUMNS, until=1e12)
    with closing(RestClient(f"http://{server.rest_endpoint}", deadline=5)) as client:
        mine = OwnDataset(client, NAMES, "abc", Service())
        mine.begin()
        mine.delete()

    assert server.catalogue.has_dataset("p", "own")
    other.close()
    assert not server.catalogue.has_dataset("p", "own")


def test_a_dataset_whose_answer_was_lost_is_used_and_deleted(server: ReferenceServer, tables_of: TablesOf) -> None:
    """The second request meets the dataset of the first one, by its label."""
    tables_of(server.rest_endpoint).create(NAMES, COLUMNS, until=1e12)
    again = tables_of(server.rest_endpoint)

    again.create(Names("p", "own", "u"), COLUMNS, until=1e12)
    again.close()

    assert not server.catalogue.has_dataset("p", "own")


def test_a_run_that_made_nothing_deletes_nothing(server: ReferenceServer, tables_of: TablesOf) -> None:
    """And a dataset that is gone is gone."""
    tables_of(server.rest_endpoint).close()
    tables = tables_of(server.rest_endpoint)
    tables.create(NAMES, COLUMNS, until=1e12)
    server.catalogue.drop_dataset("p", "own")

    tables.close()


def test_a_dataset_that_stays_is_named(tables_of: TablesOf) -> None:
    """With what the user should do, and how long it costs."""
    fake = FakeServer()
    fake.rest = lambda method, path, body: (500, {"error": {"message": "no"}}) if method == "GET" else (200, {})
    with serving(fake) as (_, port):
        tables = tables_of(f"127.0.0.1:{port}")
        tables.create(NAMES, COLUMNS, until=1e12)

        with pytest.raises(LeftBehind) as raised:
            tables.close()

    assert str(raised.value) == (
        f"the dataset p.own could not be deleted (GET {PATH}/own: HTTP 500 no): delete it yourself; its tables expire"
        " 2 h after they were made"
    )
