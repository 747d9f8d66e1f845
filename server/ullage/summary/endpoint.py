"""Endpoints: a model, where it is, and the key that may go there and nowhere else."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Literal, NoReturn, TypeAlias
from urllib.parse import urlsplit

import msgspec

from ullage.errors import EndpointRefused
from ullage.summary.limits import LOCAL, REMOTE, Limits

Provider: TypeAlias = Literal["openai", "openrouter", "ollama", "custom"]
"""`custom` is any server of the same protocol; its address is the user's to give."""
BASE_URLS: dict[Provider, str] = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "ollama": "http://127.0.0.1:11434/v1",
}
DEFAULT_TEMPERATURE = 0.3
DEFAULT_MAX_TOKENS = 4000
"""docs/design/summaries.md, "Which model"."""
_OWN_TEMPERATURE = ("o1", "o3", "o4", "gpt-5")
"""OpenAI's reasoning models answer 400 to any temperature but their own."""
_METADATA_HOSTS = frozenset(("metadata", "metadata.google.internal", "instance-data"))
_METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(text)
    for text in ("100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254")
)
"""Of clouds that do not use 169.254.169.254: Alibaba, Oracle, Azure, AWS over IPv6."""
_URL = re.compile(
    r"https?://(?:[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){0,30}\.?|\[[0-9A-Fa-f:.]{2,45}\])"
    r"(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~/%+:,=-]{0,2000})?"
)
"""What all parsers of URLs read alike; urllib's and httpx2's differ on much else."""
_DEFAULT_PORTS = {"https": 443, "http": 80}
FREE_MODEL = "google/gemini-2.0-flash-exp:free"
"""OpenRouter's, where the user named that provider alone."""
KEYRING_SERVICE = "ullage"
"""`keyring set ullage https://openrouter.ai` stores the key of an origin."""
ReadKeyring: TypeAlias = Callable[[str, str], str | None]
"""Takes a service and a user name, which is an origin here."""


class ApiKey:
    """A secret and the origin it belongs to. No representation of it shows the secret."""

    __slots__ = ("__secret", "origin")

    def __init__(self, secret: str, origin: str) -> None:
        self.__secret = secret
        self.origin = origin

    def reveal_for(self, origin: str) -> str:
        """Give the secret to a request to its own origin.

        Raises:
            EndpointRefused: the request goes elsewhere.
        """
        if origin != self.origin:
            raise EndpointRefused(
                f"the key of {self.origin} is not sent to {origin}:"
                " give this endpoint a key of its own"
            )
        return self.__secret

    def __repr__(self) -> str:
        return f"ApiKey(origin={self.origin!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not written anywhere")


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """What a million tokens cost, in US dollars."""

    input_usd: float
    output_usd: float


class ModelChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The model that a user chose, without its key."""

    provider: Provider
    model: str
    base_url: str | None = None
    """None for the provider's own; from a user's settings only, never from a workspace."""
    temperature: float = DEFAULT_TEMPERATURE
    max_tokens: int = DEFAULT_MAX_TOKENS


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a request needs; made by `endpoint_for`, which checks the address."""

    provider: Provider
    model: str
    base_url: str
    key: ApiKey | None
    window_tokens: int
    temperature: float | None = DEFAULT_TEMPERATURE
    """None leaves it to the model."""
    max_tokens: int = DEFAULT_MAX_TOKENS
    prices: Prices | None = None

    @property
    def name(self) -> str:
        """Of the model, for people: `provider/name`."""
        return f"{self.provider}/{self.model}"

    @property
    def origin(self) -> str:
        return origin_of(self.base_url)

    @property
    def is_local(self) -> bool:
        return is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def default_limits(self) -> Limits:
        return LOCAL if self.is_local else REMOTE

    @property
    def secrets(self) -> tuple[str, ...]:
        return () if self.key is None else (self.key.reveal_for(self.origin),)


def endpoint_for(
    choice: ModelChoice,
    *,
    key: ApiKey | None,
    window_tokens: int,
    prices: Prices | None = None,
) -> Endpoint:
    """Make the endpoint of a model.

    Raises:
        EndpointRefused: nothing may be sent to this address, or not with this key.
    """
    base_url = base_url_of(choice)
    origin = check_origin(base_url)
    if key is not None:
        key.reveal_for(origin)
    elif not is_loopback(urlsplit(base_url).hostname or ""):
        raise EndpointRefused(
            f"there is no key for {origin}: set {key_variable(choice.provider)},"
            " or leave the model out to do without one"
        )
    return Endpoint(
        provider=choice.provider,
        model=choice.model,
        base_url=base_url,
        key=key,
        window_tokens=window_tokens,
        temperature=None if _has_own_temperature(choice) else choice.temperature,
        max_tokens=choice.max_tokens,
        prices=prices,
    )


def _has_own_temperature(choice: ModelChoice) -> bool:
    return choice.provider == "openai" and choice.model.startswith(_OWN_TEMPERATURE)


def key_variable(provider: Provider) -> str:
    """Name the variable of the environment that holds a provider's key."""
    match provider:
        case "openrouter":
            return "OPENROUTER_API_KEY"
        case "openai":
            return "OPENAI_API_KEY"
        case "ollama" | "custom":
            return "ULLAGE_API_KEY"


def base_url_of(choice: ModelChoice) -> str:
    """Give the address of a choice, without a slash at its end.

    Raises:
        EndpointRefused: the user has to give one and did not.
    """
    base_url = choice.base_url or BASE_URLS.get(choice.provider)
    if not base_url:
        raise EndpointRefused(
            f"the model {choice.model} has no address: set `compaction.model.provider` or"
            " `compaction.model.baseUrl` in your own configuration"
        )
    return base_url.rstrip("/")


def check_origin(base_url: str) -> str:
    """Give the origin of an address that may be sent to.

    Plain HTTP is for this machine alone. Names are not resolved: one that points into the
    network of a cloud cannot show a certificate for itself.

    Raises:
        EndpointRefused: with the reason; the address is shown only where it can hold no key.
    """
    if set("@?#") & set(base_url):
        raise EndpointRefused(
            "the model's address holds a user, a password or a query:"
            " keys belong into the environment or the keyring"
        )
    if not _URL.fullmatch(base_url):
        raise EndpointRefused(
            "the model's address is not a URL: it is https://, a host in ASCII, and a path"
        )
    try:
        parts = urlsplit(base_url)
        host, origin = (parts.hostname or "").rstrip("."), origin_of(base_url)
    except ValueError:
        raise EndpointRefused(
            "the model's address is not a URL: look at its host and its port"
        ) from None
    if _is_metadata(host):
        raise EndpointRefused(f"{origin} is an address inside a machine's own network: not used")
    if parts.scheme == "http" and not is_loopback(host):
        raise EndpointRefused(f"{origin} is not encrypted: use https:// for other machines")
    return origin


def origin_of(url: str) -> str:
    """Give scheme, host and port of a URL, the port only where it is not the usual one."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".").lower()
    shown = f"[{host}]" if ":" in host else host
    is_usual = parts.port in (None, _DEFAULT_PORTS.get(parts.scheme))
    return f"{parts.scheme}://{shown}" + ("" if is_usual else f":{parts.port}")


def is_loopback(host: str) -> bool:
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_metadata(host: str) -> bool:
    """Tell whether a host is one that only software inside a cloud's machine talks to."""
    if host.lower() in _METADATA_HOSTS:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # Forms such as 0xA9FEA9FE or 2852039166, which some resolvers take as addresses.
        return host.replace(".", "").isdigit() or host.lower().startswith("0x")
    mapped = getattr(address, "ipv4_mapped", None)
    real = mapped if isinstance(mapped, ipaddress.IPv4Address) else address
    return (
        real.is_link_local
        or real.is_unspecified
        or real.is_multicast
        or real in _METADATA_ADDRESSES
    )


def choose_model(
    provider: str | None, name: str | None, base_url: str | None
) -> ModelChoice | None:
    """Give the model that a user named; None where neither it nor who provides it is named.

    A key that happens to be in the environment is no consent to send a session anywhere.

    Raises:
        EndpointRefused: a provider or an address was named, and no model.
    """
    if provider is None and name is None and base_url is None:
        return None
    known: Provider = "custom"
    for each in BASE_URLS:
        if each == (provider or "").lower():
            known = each
    if name is None and known == "openrouter":
        name = FREE_MODEL
    if name is None:
        raise EndpointRefused("no model is named: set `compaction.model.modelName`")
    return ModelChoice(provider=known, model=name, base_url=base_url)


def choose_embedder(base_url: str | None, model: str | None) -> ModelChoice | None:
    """Give the model that a user named for embeddings; None where nothing is named.

    Raises:
        EndpointRefused: an address without a model was named, or a model without an address.
    """
    if base_url is None and model is None:
        return None
    if base_url is None or model is None:
        missing = "model" if model is None else "baseUrl"
        raise EndpointRefused(f"set `memory.embeddings.{missing}` as well")
    origin = check_origin(base_url)
    provider: Provider = "custom"
    for name, url in BASE_URLS.items():
        if origin_of(url) == origin:
            provider = name
    return ModelChoice(provider=provider, model=model, base_url=base_url)


def find_key(
    choice: ModelChoice, env: Mapping[str, str], read_keyring: ReadKeyring
) -> ApiKey | None:
    """Find the key for where a choice sends to; it may take a while to unlock a keyring.

    A provider's own variable counts at the provider's own address only; any other address
    takes `ULLAGE_API_KEY`.

    Raises:
        EndpointRefused: nothing may be sent to this address.
    """
    origin = check_origin(base_url_of(choice))
    own = BASE_URLS.get(choice.provider)
    is_own = own is not None and origin == origin_of(own)
    variable = key_variable(choice.provider if is_own else "custom")
    secret = env.get(variable, "").strip() or (read_keyring(KEYRING_SERVICE, origin) or "").strip()
    return ApiKey(secret, origin) if secret else None


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
