"""The origin of a run: what is recorded, what is masked, and what is said when no real client reads."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from conformance.engine import started
from conformance.engine.events import Event, RunEnded
from conformance.engine.merge import MergeError, merge
from conformance.engine.provenance import (
    UNKNOWN,
    UNREAD,
    Digests,
    Identity,
    Provenance,
    ReaderVersion,
    masked,
    remarks,
)
from conformance.readers import READERS
from conformance.targets.specfile import parse_target
from tests.engine import samples

CLIENT = ReaderVersion("bigquery.list-rows", "google-cloud-bigquery", "3.0", client=True)
SERVER = """
name = "mine"
kind = "server"
capabilities = []

[start]
command = ["serve", "--port", "{grpc_port}", "--rest", "{rest_port}", "--api-token", "hidden-1", "password=hidden-2"]
environment = {API_KEY = "hidden-3"}
"""
RUNNING = """
name = "mine"
kind = "server"
capabilities = []
endpoint = {grpc = "localhost:1", rest = "http://me:hidden-4@localhost:2"}
"""


def test_a_run_records_its_origin() -> None:
    """The date in UTC, the digests, the target, and the version of each reader."""
    made = started.surroundings(target=Identity("mine", "1.0"), readers=READERS.values(), cases="ab")["provenance"]

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made.began)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in (made.digests.clauses, made.digests.golden))
    assert made.digests.cases == "ab"
    assert [reader.name for reader in made.readers] == list(READERS)
    assert all(reader.version for reader in made.readers if reader.package == "pyarrow")


def test_the_commit_is_that_of_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the suite is no checkout, an outer repository is not taken for it."""
    started._commit.cache_clear()
    monkeypatch.setattr(started, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(started, "_installed_commit", lambda: "c0ffee")

    found = started._commit()

    started._commit.cache_clear()
    assert found == ("c0ffee", False)


def test_a_reader_that_is_not_installed_has_no_version() -> None:
    """Its name stays, so that a report shows what is missing."""
    info = dataclasses.replace(next(iter(READERS.values())), package="no-such-distribution")

    (reader,) = started.surroundings(target=Identity(), readers=[info])["provenance"].readers

    assert (reader.name, reader.version) == (info.name, "")


@pytest.mark.parametrize("text", [SERVER, RUNNING])
def test_no_secret_of_a_target_file_is_recorded(text: str) -> None:
    """Neither values of the environment, nor options that are named like secrets, nor users in addresses."""
    identity = started.identity_of(parse_target(text, Path("mine.toml")), name="mine", version="1.0")

    assert identity.command
    assert "hidden" not in str(identity)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("--secret", "a", "b"), ("--secret", "***", "b")),
        (("--db-password=a=b",), ("--db-password=***",)),
        (("GITHUB_TOKEN=a", "serve"), ("GITHUB_TOKEN=***", "serve")),
        (("sh", "-c", "serve --port 1 --token 'a b'"), ("sh", "-c", "serve --port 1 --token ***")),
        (("-H", "X-Api-Key: a"), ("-H", "X-Api-Key:***")),
        (("--header", "Bearer a"), ("--header", "Bearer ***")),
        (("--access-key", "a", "--db-pwd=b"), ("--access-key", "***", "--db-pwd=***")),
        (("https://a:b@host/x?y", "--port", "1"), ("https://***@host/x?y", "--port", "1")),
    ],
)
def test_values_that_are_named_like_secrets_are_masked(words: tuple[str, ...], shown: tuple[str, ...]) -> None:
    """The names stay."""
    assert masked(words) == shown


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (UNKNOWN, ()),
        (Provenance(began="2026-01-01T00:00:00Z"), (UNREAD,)),
        (Provenance(began="2026-01-01T00:00:00Z", readers=(dataclasses.replace(CLIENT, version=""),)), (UNREAD,)),
        (Provenance(began="2026-01-01T00:00:00Z", readers=(dataclasses.replace(CLIENT, client=False),)), (UNREAD,)),
        (Provenance(began="2026-01-01T00:00:00Z", readers=(CLIENT,)), ()),
    ],
)
def test_a_run_without_real_clients_says_so(known: Provenance, said: tuple[str, ...]) -> None:
    """Decoders are no clients, and a client that is not installed reads nothing."""
    assert remarks(known) == said


def test_shards_may_begin_at_different_times() -> None:
    """The merged run began with the first of them, and names the command of each."""
    start = samples.started("framing.x")
    known = Provenance(began="2026-01-02T00:00:00Z", command="run --shard 1/2")
    logs: list[list[Event]] = [
        [
            dataclasses.replace(
                start, shard=f"{part}/2", provenance=dataclasses.replace(known, began=began, command=text)
            ),
            RunEnded(1.0),
        ]
        for part, began, text in ((1, "2026-01-02T00:00:00Z", "first"), (2, "2026-01-01T00:00:00Z", "second"))
    ]

    whole = merge(logs)[0]

    assert isinstance(whole, type(start))
    assert (whole.provenance.began, whole.provenance.command) == ("2026-01-01T00:00:00Z", "first; second")


def test_shards_of_different_origin_are_refused() -> None:
    """Two suites with other clauses did not judge one run."""
    start = samples.started("framing.x")
    logs: list[list[Event]] = [
        [dataclasses.replace(start, shard=f"{part}/2", provenance=Provenance(digests=Digests(clauses=digest)))]
        for part, digest in ((1, "a"), (2, "b"))
    ]

    with pytest.raises(MergeError, match=r"but provenance\.digests of shard 1/2 is not that of shard 2/2"):
        merge(logs)
