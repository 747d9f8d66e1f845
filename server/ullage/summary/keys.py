"""Keys: from the environment or the keyring of the operating system, never from a workspace."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ullage.summary import endpoint

KEYRING_SERVICE = "ullage"
"""`keyring set ullage https://openrouter.ai` stores the key of an origin."""
ReadKeyring: TypeAlias = Callable[[str, str], str | None]
"""Takes a service and a user name, which is an origin here."""


def find_key(
    choice: endpoint.ModelChoice, env: Mapping[str, str], read_keyring: ReadKeyring
) -> endpoint.ApiKey | None:
    """Find the key for where a choice sends to; it may take a while to unlock a keyring.

    A provider's own variable counts at the provider's own address only; any other address
    takes `ULLAGE_API_KEY`.

    Raises:
        EndpointRefused: nothing may be sent to this address.
    """
    origin = endpoint.checked_origin(endpoint.base_url_of(choice))
    own = endpoint.BASE_URLS.get(choice.provider)
    is_own = own is not None and origin == endpoint.origin_of(own)
    variable = endpoint.key_variable(choice.provider if is_own else "custom")
    secret = env.get(variable, "").strip() or (read_keyring(KEYRING_SERVICE, origin) or "").strip()
    return endpoint.ApiKey(secret, origin) if secret else None


def providers_with_key(
    env: Mapping[str, str], read_keyring: ReadKeyring
) -> frozenset[endpoint.Provider]:
    """List the providers that a key is there for."""
    remote: tuple[endpoint.Provider, ...] = ("openrouter", "openai")
    return frozenset(
        provider
        for provider in remote
        if find_key(endpoint.ModelChoice(provider=provider, model=""), env, read_keyring)
        is not None
    )


def read_system_keyring(service: str, user: str) -> str | None:
    """Read the keyring of the operating system; None without it, without a key, or if locked."""
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    try:
        return keyring.get_password(service, user)
    except keyring.errors.KeyringError:
        return None
