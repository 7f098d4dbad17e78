"""The ciphers of TLS that gRPC takes from the environment, and whether it can use any of them."""

from __future__ import annotations

import os
import ssl
from typing import Final

__all__ = ["require_ciphers"]

VARIABLE: Final = "GRPC_SSL_CIPHER_SUITES"
GROUP: Final = "["
"""Begins a group of equal preference, which gRPC's BoringSSL knows and OpenSSL does not."""


def require_ciphers() -> None:
    """Refuse a list of ciphers in the environment that names none.

    With such a list no gRPC connection with TLS comes about, in either direction, and gRPC does not say why: a server
    that works would be judged dead. A list is not replaced, as it may be there to forbid weak ciphers.

    Raises:
        ValueError: gRPC can use no cipher of the list.
    """
    named = os.environ.get(VARIABLE)
    if named is None or GROUP in named:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).set_ciphers(named)
    except (ssl.SSLError, UnicodeError):
        said = f"expected {VARIABLE} to name a cipher of TLS 1.2, or to be unset, but got {named!r}"
        raise ValueError(said) from None
