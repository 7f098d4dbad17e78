"""``[service]`` and ``project_variable`` are read strictly."""

from __future__ import annotations

import pytest

from conformance.targets import TargetError
from conformance.targets.service import Price, Service, sized
from tests.targets.conftest import Write

ENDPOINT = 'name = "x"\nkind = "server"\n[endpoint]\ngrpc = "localhost:1"\nrest = "http://localhost:2"\n'


def test_every_key_has_its_place(target_file: Write) -> None:
    """What is left out has its default."""
    price = '[service.price]\ndollars_per_tib = 1.5\nsource = "s"\ndate = "d"\n'

    spec = target_file(ENDPOINT + '[service]\nlocation = "EU"\nmax_bytes = 5\n' + price)

    assert spec.service == Service(location="EU", max_bytes=5, price=Price(1.5, "s", "d"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ENDPOINT + "[service]\nexpiry = 60.0\n", "target.service.expiry: expected a number from 3600 to 2592000"),
        (ENDPOINT + "[service]\nmax_bytes = 0\n", "target.service.max_bytes: expected a number from 1"),
        (ENDPOINT + "[service]\nretries = -1\n", "target.service.retries: expected a number from 0 to 100"),
        (ENDPOINT + '[service]\n[seed]\ndataset = "a-b"\n', "target.seed.dataset: expected letters, digits and '_'"),
        (ENDPOINT + '[service]\n[seed]\npaths = ["program"]\n[seed.program]\ncommand = ["x"]\n', "a path over REST"),
        (ENDPOINT.replace('rest = "http://localhost:2"', "") + "[service]\n", "an [endpoint] with rest, where the run"),
        (
            ENDPOINT + '[service.price]\ndollars_per_tib = -1.0\nsource = "s"\ndate = "d"\n',
            "target.service.price.dollars_per_tib: expected US dollars",
        ),
        ('project_variable = "A B"\n' + ENDPOINT, "target.project_variable: expected the name of an environment"),
    ],
)
def test_what_cannot_be_meant_is_refused(target_file: Write, text: str, said: str) -> None:
    """One sentence that names the key."""
    with pytest.raises(TargetError) as raised:
        target_file(text)

    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0 bytes"), (1536, "1.5 KiB"), (10 << 30, "10.0 GiB"), (1 << 41, "2.0 TiB")]
)
def test_bytes_are_shown_in_units(number: int, shown: str) -> None:
    """Of 1024, as the service bills."""
    assert sized(number) == shown
