"""Which model summarizes, if any (docs/design/summaries.md, "Which model")."""

from collections.abc import Set as AbstractSet

from ullage.summary.endpoint import ModelChoice, Provider

FREE_MODEL = "google/gemini-2.0-flash-exp:free"
"""OpenRouter's free model, where a key for OpenRouter is there."""


def choose_model(
    *,
    is_asked_for: bool,
    configured: ModelChoice | None,
    session_model: str | None,
    session_provider: str | None,
    providers_with_key: AbstractSet[Provider],
) -> ModelChoice | None:
    """Choose the model: configured; else OpenRouter's free one; else the session's own; else none.

    `is_asked_for`: whether the user enabled a model at all, by configuration or by flag. A key
    that happens to be in the environment is no consent to send a session anywhere.
    """
    if not is_asked_for:
        return None
    if configured is not None:
        return configured
    if "openrouter" in providers_with_key:
        return ModelChoice(provider="openrouter", model=FREE_MODEL)
    provider = _provider_of(session_model, session_provider)
    if session_model and provider in providers_with_key:
        return ModelChoice(provider=provider, model=session_model)
    return None


def _provider_of(model: str | None, provider: str | None) -> Provider:
    named = (provider or "").lower()
    if named == "openai" or (not named and (model or "").startswith(("gpt-", "o1", "o3", "o4"))):
        return "openai"
    return "openrouter" if named == "openrouter" else "custom"
