"""Certificates for tests: two authorities, and certificates of servers and clients, made by openssl."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from conformance.contain.command import run_command
from tests.patience import LONG

__all__ = ["make_certificates"]


def make_certificates(folder: Path) -> Path:
    """``folder`` with ``ca``, ``other-ca``, ``server`` (127.0.0.1 and "here"), ``elsewhere`` and ``client`` as PEM."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    for name in ("ca", "other-ca"):
        _make(folder, name, "-addext", "keyUsage=critical,keyCertSign")
    for name, names in (
        ("server", "IP:127.0.0.1,DNS:here"),
        ("elsewhere", "DNS:elsewhere.example"),
        ("client", "DNS:client.example"),
    ):
        signed = ("-CA", str(folder / "ca.pem"), "-CAkey", str(folder / "ca.key"))
        _make(folder, name, *signed, "-addext", f"subjectAltName={names}", "-addext", "basicConstraints=CA:FALSE")
    return folder


def _make(folder: Path, name: str, *more: str) -> None:
    key = (
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        str(folder / f"{name}.key"),
    )
    command = ["openssl", "req", "-x509", *key, "-out", str(folder / f"{name}.pem"), "-subj", f"/CN={name}", *more]
    done = run_command(command, environment=os.environ, seconds=LONG)
    assert done.code == 0, done.stderr
