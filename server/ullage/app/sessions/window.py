"""Find the window of a session's model: who says so, in the order of docs/design/gauge.md."""

from ullage.app.sessions.session import Session
from ullage.core.config.agent_settings import AgentSettings
from ullage.core.config.settings import Config
from ullage.core.gauge.window import (
    DEFAULT_WINDOW,
    LARGE_TOKENS,
    ModelRow,
    Window,
    check_window,
    has_large_window,
    largest_request,
)
from ullage.core.transcript.context import Context
from ullage.store.gauge.models import find_model


def find_window(
    session: Session, context: Context, config: Config, settings: AgentSettings
) -> Window:
    """Find the window; one that a request of this session did not fit in is replaced."""
    n_tokens = config.window_for(context.model)
    if n_tokens is not None:
        detail = f"your setting {config.window_name(context.model)}".rstrip()
        return Window(n_tokens=n_tokens, source="setting", detail=detail)
    row = find_model(session.header.agent, context.provider, context.model)
    window = (
        _recorded_window(context) or _configured_window(session, context, settings) or _listed(row)
    )
    return check_window(window, largest_request(context), () if row is None else row.larger)


def _recorded_window(context: Context) -> Window | None:
    if context.window_tokens is not None:
        detail = "the agent's own record"
        return Window(n_tokens=context.window_tokens, source="agent", detail=detail)
    if context.model is not None and has_large_window(context.model):
        detail = f"the agent's own record of {context.model}"
        return Window(n_tokens=LARGE_TOKENS, source="agent", detail=detail)
    return None


def _configured_window(
    session: Session, context: Context, settings: AgentSettings
) -> Window | None:
    """Read what the agent's own configuration says of the model."""
    agent = session.agent_info
    if agent is None or context.provider is None or context.model is None:
        return None
    setting = agent.find_window(settings, context.provider, context.model)
    if setting is None or setting.value < 1:
        return None
    return Window(n_tokens=int(setting.value), source="configuration", detail=setting.origin)


def _listed(row: ModelRow | None) -> Window:
    if row is None:
        return DEFAULT_WINDOW
    return Window(n_tokens=row.window_tokens, source="model table", detail=row.source)
