"""Which adapters are built here: the tests of all others do not run, and this says why."""

from __future__ import annotations

import shutil

import pytest

from adapters.building import reason_not_built
from adapters.spec import shipped
from tests.adapters.conftest import BUILT

pytestmark = pytest.mark.slow(env="adapters")


@pytest.mark.parametrize("name", sorted(shipped("adapter.toml")))
def test_a_built_adapter_says_what_it_is(name: str) -> None:
    """Its command is there, and the version of its library is known."""
    if name not in BUILT:
        pytest.skip(reason_not_built(shipped()[name]) or f"{name} is not built: run python -m adapters {name}")

    assert shutil.which(BUILT[name].command[0])
    assert BUILT[name].version
