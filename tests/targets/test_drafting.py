"""The text of a new target file reads as the target that it was made from."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.targets import TargetKind, TargetSpec, drafting
from conformance.targets.drafting import target_text
from conformance.targets.spec import Endpoint, Ready, Seed, SeedPath, SerializerSpec, Start
from conformance.targets.specfile import parse_target

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="{}\0"), max_size=20)


@pytest.mark.parametrize(
    "spec",
    [
        TargetSpec("a", TargetKind.SERVER, endpoint=Endpoint("localhost:1", "http://localhost:2")),
        TargetSpec(
            "b",
            TargetKind.SERVER,
            project="mine",
            capabilities=("zero-columns", "more"),
            not_offered=("splits", "filters"),
            start=Start(("serve it", "{grpc_port}", "{rest_port}")),
            ready=Ready(rest_path="/{project}"),
            seed=Seed((SeedPath.SQL, SeedPath.REST)),
        ),
        TargetSpec("c", TargetKind.SERVER, start=Start(("serve",)), ready=Ready(grpc_event="g", rest_event="r")),
        TargetSpec("d", TargetKind.PROGRAM, start=Start(("python", "{here}/adapter.py"))),
        TargetSpec("e", TargetKind.SERIALIZER, serializer=SerializerSpec("mine:Writer", (".",))),
    ],
    ids=lambda spec: spec.name,
)
def test_every_kind_is_read_back(spec: TargetSpec) -> None:
    """Nothing is lost, and nothing is added."""
    assert parse_target(target_text(spec), Path()) == TargetSpec(
        **{field: getattr(spec, field) for field in spec.__slots__ if field != "file"}, file="."
    )


@given(st.lists(texts, min_size=1, max_size=4))
def test_any_word_of_a_command_is_read_back(words: list[str]) -> None:
    """Quotes, backslashes, control characters and any script."""
    spec = TargetSpec("a", TargetKind.PROGRAM, start=Start(tuple(words)))

    assert parse_target(target_text(spec), Path()).start == spec.start


def test_the_example_is_true() -> None:
    """The docstring shows a file."""
    results = doctest.testmod(drafting)

    assert (results.failed, results.attempted > 0) == (0, True)
