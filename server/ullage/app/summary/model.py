"""The model that summarizes: by the user's configuration, and only where one was asked for."""

from collections.abc import Callable

from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import ModelUse
from ullage.core.config.settings import ModelSettings
from ullage.errors import EndpointRefused
from ullage.store.files.places import Places
from ullage.store.gauge.models import model_row
from ullage.summary.choice import choose_model
from ullage.summary.endpoint import BASE_URLS, Endpoint, ModelChoice, Provider, endpoint_for
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
    """Give the model that the user configured with the key for it; no model where none was."""
    if model == ModelSettings():
        return ModelUse()
    try:
        return ModelUse(endpoint=_endpoint(model, loaded, places), report=report)
    except EndpointRefused as error:
        return ModelUse(problem=str(error))


def has_model(model: ModelSettings, loaded: Loaded, places: Places) -> bool:
    """Tell whether a model would be asked for a summary."""
    return model_use(model, loaded, places).endpoint is not None


def _endpoint(model: ModelSettings, loaded: Loaded, places: Places) -> Endpoint | None:
    choice = choose_model(
        is_asked_for=True,
        configured=_configured(model),
        session_model=loaded.context.model,
        session_provider=None,
        providers_with_key=providers_with_key(places.env, read_system_keyring),
    )
    if choice is None:
        return None
    row = model_row(choice.model)
    return endpoint_for(
        choice,
        key=find_key(choice, places.env, read_system_keyring),
        window_tokens=row.window_tokens if row else UNKNOWN_WINDOW_TOKENS,
    )


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
