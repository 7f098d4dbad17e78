"""A list of ciphers in the environment with which no gRPC connection with TLS comes about is refused."""

from __future__ import annotations

import pytest

from conformance.contain.ciphers import require_ciphers


@pytest.mark.parametrize("named", ["xyz", "", "é"])
def test_a_list_that_names_no_cipher_is_refused(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of itself, gRPC would say only that it cannot bind, or that it cannot connect."""
    monkeypatch.setenv("GRPC_SSL_CIPHER_SUITES", named)

    with pytest.raises(ValueError, match=r"^expected GRPC_SSL_CIPHER_SUITES to name a cipher") as raised:
        require_ciphers()

    assert str(raised.value).endswith(f"but got {named!r}")


@pytest.mark.parametrize("named", ["HIGH", "[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-AES256-GCM-SHA384]"])
def test_a_list_that_names_one_is_left_to_grpc(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second form is one that OpenSSL does not know."""
    monkeypatch.setenv("GRPC_SSL_CIPHER_SUITES", named)

    require_ciphers()


def test_no_list_is_grpcs_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most environments have none."""
    monkeypatch.delenv("GRPC_SSL_CIPHER_SUITES", raising=False)

    require_ciphers()
