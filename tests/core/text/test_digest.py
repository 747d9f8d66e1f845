"""Digests without OpenSSL."""

import hashlib

import pytest

from ullage.core.text.digest import blake2b, sha256


@pytest.mark.parametrize("data", [b"", b"a", bytes(range(256)) * 99], ids=len)
def test_digests_are_those_of_hashlib(data: bytes) -> None:
    assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()
    assert blake2b(data, digest_size=16).digest() == hashlib.blake2b(data, digest_size=16).digest()
