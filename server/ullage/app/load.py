"""Load a session: its context, measured."""

from functools import partial
from pathlib import Path

import msgspec

from ullage.app.sessions import Session
from ullage.core.context import Context
from ullage.core.gauge import measure
from ullage.core.index import EMPTY_INDEX
from ullage.core.policy import Policy
from ullage.core.status import Status, assess
from ullage.core.tokens import Count
from ullage.core.window import find_row, resolve
from ullage.store.models import model_table
from ullage.store.tokenizer import DEFAULT_ENCODING, count_tokens


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a user may set."""

    window_tokens: int | None = None
    policy: Policy = Policy()


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it was read at one moment, and how full it was."""

    session: Session
    status: Status
    count: Count
    """Counts tokens with the encoding of the session's model."""

    @property
    def path(self) -> Path:
        return self.session.path

    @property
    def context(self) -> Context:
        return self.status.context


def load(session: Session, settings: Settings) -> Loaded:
    """Read a session's context and measure it."""
    reading = session.format.read_context(session.lines, session.header, EMPTY_INDEX)
    context = reading.context
    row = find_row(model_table(), context.model)
    window = resolve(
        context.model,
        model_table(),
        setting_tokens=settings.window_tokens,
        agent_tokens=None,
    )
    count = partial(count_tokens, encoding=row.encoding if row else DEFAULT_ENCODING)
    gauge = measure(context, window, count)
    return Loaded(session=session, status=assess(context, gauge, settings.policy), count=count)
