"""The certificates of a replay server, made when it starts: an authority of its own, and one certificate that it signed.

The keys never leave the folder, which the caller makes and removes. The certificate is for the loopback names and for
the host names of the service, which only a client that goes through the proxy of :mod:`.front` can take it for.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from conformance.contain.command import run_command
from conformance.reference.guard import ServerTls

__all__ = ["HOSTS", "CertificateError", "certify"]

STORAGE: Final = "bigquerystorage.googleapis.com"
HOSTS: Final = (
    STORAGE,
    "bigquery.googleapis.com",
    "www.googleapis.com",
    "oauth2.googleapis.com",
    "accounts.google.com",
)
"""The hosts that clients of BigQuery ask for."""
_SECONDS: Final = 30.0
_KEY: Final = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_DAYS: Final = "3650"
"""A certificate that is valid for long: clocks of test machines are wrong, and the keys do not outlive the server."""


class CertificateError(Exception):
    """The certificates cannot be made; the text says why."""


def certify(folder: Path) -> tuple[Path, ServerTls]:
    """Make the certificates in ``folder``; return the authority's and the server's.

    Raises:
        CertificateError: openssl is not installed, or it failed.
    """
    if shutil.which("openssl") is None:
        raise CertificateError("expected the command openssl for the certificates of TLS; install it, or use --no-tls")
    ca, key = folder / "ca.pem", folder / "ca.key"
    _openssl(ca, key, "/CN=replay server of the conformance suite", "-addext", "keyUsage=critical,keyCertSign")
    names = ",".join((*(f"DNS:{host}" for host in ("localhost", *HOSTS)), "IP:127.0.0.1", "IP:::1"))
    made = ServerTls(folder / "server.pem", folder / "server.key")
    signed = ("-CA", str(ca), "-CAkey", str(key), "-addext", f"subjectAltName={names}")
    _openssl(made.certificate, made.key, "/CN=localhost", *signed, "-addext", "basicConstraints=critical,CA:FALSE")
    return ca, made


def _openssl(certificate: Path, key: Path, subject: str, *more: str) -> None:
    out = ("-keyout", str(key), "-out", str(certificate), "-days", _DAYS, "-subj", subject)
    done = run_command(["openssl", "req", "-x509", *_KEY, *out, *more], environment=os.environ, seconds=_SECONDS)
    if done.code != 0:
        said = done.stderr.strip().splitlines()
        raise CertificateError(f"openssl made no certificate: {said[-1] if said else f'exit status {done.code}'}")
