"""A client.toml is read into readers, and one that is wrong says what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.readers.info import LossKind, Takes
from conformance.readers.ipc.adapters import AdapterError
from conformance.readers.ipc.implementation import Unavailable
from conformance.readers.programs.clientspec import load_program
from conformance.readers.programs.slot import ProgramSlot, warm_up_read
from conformance.records import BqType, ReadingOutcome

HEAD = 'name = "c"\ntitle = "C"\nlanguage = "COBOL"\npackage = "c"\ncommand = ["{cache}/c"]\n'


def client(folder: Path, text: str) -> Path:
    """The file."""
    file = folder / "client.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_each_path_is_a_reader(tmp_path: Path) -> None:
    """It is named after the client and the path, with what is documented about it."""
    loss = '{ type = "STRING", change = "leading-mark", source = "https://example.com" }'
    paths = f'[paths.a]\ntitle = "one"\ncannot = {{ INTERVAL = "why" }}\nlosses = [{loss}]\n[paths.b]\ntitle = "two"\n'

    program = load_program(client(tmp_path, HEAD + paths))

    assert [info.name for info in program.paths.values()] == ["c.a", "c.b"]
    assert program.paths["a"].cannot == {BqType.INTERVAL: "why"}
    assert [(one.kind, one.change) for one in program.paths["a"].losses] == [(BqType.STRING, LossKind.LEADING_MARK)]


@pytest.mark.parametrize(("name", "takes"), [("client.toml", Takes.SERVER), ("query-results.toml", Takes.QUERY)])
def test_the_name_of_the_file_says_what_is_read(tmp_path: Path, name: str, takes: Takes) -> None:
    """Sessions, or the results of queries."""
    file = client(tmp_path, HEAD + '[paths.a]\ntitle = "t"\n').rename(tmp_path / name)

    assert load_program(file).paths["a"].takes is takes


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ("", "expected at least one table"),
        ("[paths.a]\n", "expected a table with a title"),
        ('tls = 1\n[paths.a]\ntitle = "t"\n', "expected tls to be true or false but got 1"),
        ('patience = 0\n[paths.a]\ntitle = "t"\n', "expected patience to be a whole number from 1 but got 0"),
        ('[paths.a]\ntitle = "t"\nspeed = 1\n', "but got speed"),
        ('[paths.a]\ntitle = "t"\ncannot = { TEXT_TYPE = "" }\n', "'TEXT_TYPE' is not a valid BqType"),
        ('[paths.a]\ntitle = "t"\nlosses = [{ type = "STRING" }]\n', "expected a loss with"),
    ],
)
def test_a_wrong_file_says_what_was_expected(tmp_path: Path, paths: str, said: str) -> None:
    """The text names the file and the place."""
    with pytest.raises(AdapterError, match=r"client\.toml.*") as caught:
        load_program(client(tmp_path, HEAD + paths))

    assert said in str(caught.value)


def test_a_client_says_what_it_needs(tmp_path: Path) -> None:
    """TLS, and a longer deadline; most clients need neither."""
    paths = '[paths.a]\ntitle = "t"\n'

    plain = load_program(client(tmp_path, HEAD + paths))
    needing = load_program(client(tmp_path, f"tls = true\npatience = 6\n{HEAD}{paths}"))

    assert [(one.tls, one.patience) for one in (plain, needing)] == [(False, 1), (True, 6)]


def test_a_client_over_tls_alone_needs_servers_with_tls(tmp_path: Path) -> None:
    """A pool without them says so."""
    program = load_program(client(tmp_path, f'tls = true\n{HEAD}[paths.a]\ntitle = "t"\n'))
    slot = ProgramSlot(program, ["a"], deadline=1.0, memory=1 << 30)

    reading = slot.read(warm_up_read(), ["c.a"])[0]
    slot.close()

    assert reading.outcome is ReadingOutcome.UNAVAILABLE
    assert "no servers with TLS" in reading.error_text


def test_a_client_that_is_not_built_says_how_to_build_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason names the command."""
    monkeypatch.setenv("CONFORMANCE_ADAPTERS", str(tmp_path / "cache"))

    with pytest.raises(Unavailable, match="python -m adapters c"):
        load_program(client(tmp_path, f'{HEAD}[paths.a]\ntitle = "t"\n')).command()


def test_a_client_without_a_build_runs_where_it_is(tmp_path: Path) -> None:
    """Its command needs no cache."""
    text = HEAD.replace("{cache}/c", "{here}/c") + '[paths.a]\ntitle = "t"\n'

    assert load_program(client(tmp_path, text)).command() == [str(tmp_path.resolve() / "c")]
