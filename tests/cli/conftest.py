"""A user's directory."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.cli.typed import CASE, SERIALIZER, TARGET, stay_here


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's directory: one case, a correct target, a faulty one, and message files."""
    monkeypatch.chdir(tmp_path)
    stay_here(monkeypatch)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "one.yaml").write_text(CASE)
    (tmp_path / "user_serializer.py").write_text(SERIALIZER)
    for name in ("Honest", "Liar"):
        (tmp_path / f"{name.lower()}.toml").write_text(
            TARGET.format(name=name).replace(f'"{name}"', f'"{name.lower()}"', 1)
        )
    schema = pa.schema([pa.field("a", pa.int64())])
    batch = pa.record_batch([pa.array([1, None, 3])], schema=schema)
    (tmp_path / "schema.bin").write_bytes(schema.serialize().to_pybytes())
    (tmp_path / "batch.bin").write_bytes(batch.serialize().to_pybytes())
    (tmp_path / "trailing.bin").write_bytes(batch.serialize().to_pybytes() + bytes(8))
    (tmp_path / "cut.bin").write_bytes(batch.serialize().to_pybytes()[:-8])
    (tmp_path / "empty.bin").write_bytes(b"")
    return tmp_path
