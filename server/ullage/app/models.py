"""The model that summarizes: by the user's configuration, and only where one was asked for."""

from collections.abc import Callable

from ullage.app.load import Loaded
from ullage.app.summaries import ModelUse
from ullage.core.config.settings import ModelSettings
from ullage.core.window import find_row
from ullage.store.models import model_table
from ullage.store.places import Places
from ullage.summary.choice import choose_model
from ullage.summary.endpoint import BASE_URLS, ModelChoice, Provider, endpoint_for
from ullage.summary.keys import find_key, providers_with_key, read_system_keyring
from ullage.summary.request import Progress

UNKNOWN_WINDOW_TOKENS = 32_000
"""Of a model that no table knows: small enough for what people run at home (chosen)."""


def model_use(
    model: ModelSettings,
    loaded: Loaded,
    places: Places,
    *,
    report: Callable[[Progress], None] | None = None,
) -> ModelUse:
    """Give the model that the user configured with the key for it; no model where none was.

    Raises:
        EndpointRefused: nothing may be sent to the configured address, or there is no key.
    """
    if model == ModelSettings():
        return ModelUse()
    choice = choose_model(
        is_asked_for=True,
        configured=_configured(model),
        session_model=loaded.context.model,
        session_provider=None,
        providers_with_key=providers_with_key(places.env, read_system_keyring),
    )
    if choice is None:
        return ModelUse()
    row = find_row(model_table(), choice.model)
    endpoint = endpoint_for(
        choice,
        key=find_key(choice, places.env, read_system_keyring),
        window_tokens=row.window_tokens if row else UNKNOWN_WINDOW_TOKENS,
    )
    return ModelUse(endpoint=endpoint, report=report)


def _configured(model: ModelSettings) -> ModelChoice | None:
    """Give the model that was named with its provider or address; None where one is missing."""
    if model.name is None or (model.provider is None and model.base_url is None):
        return None
    provider: Provider = "custom"
    for known in BASE_URLS:
        if known == (model.provider or "").lower():
            provider = known
    return ModelChoice(
        provider=provider,
        model=model.name,
        base_url=model.base_url,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
    )
