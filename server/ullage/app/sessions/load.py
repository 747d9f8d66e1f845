"""Load a session: its context, measured."""

from functools import partial
from itertools import islice, takewhile
from pathlib import Path

import msgspec

from ullage.app.sessions.secrets import SessionSecrets
from ullage.app.sessions.session import Session
from ullage.core.config.agent_settings import AgentSettings
from ullage.core.config.settings import Config, Policy
from ullage.core.facts.pins import mark_pinned
from ullage.core.gauge.agent_figures import NO_FIGURES, AgentFigures
from ullage.core.gauge.gauge import Gauge, measure, tells_usage
from ullage.core.gauge.status import Status, assess
from ullage.core.gauge.window import resolve_window
from ullage.core.secrets.scan import mask
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import Entry, MemoryLines
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.formats.agent_info import RunningSession
from ullage.formats.reading import Reading
from ullage.store.config.agent_settings import read_settings_files
from ullage.store.files.places import Places
from ullage.store.gauge.models import find_model
from ullage.store.gauge.token_counts import CountText, TokenCounts
from ullage.store.gauge.tokenizer import count_tokens, encoding_of
from ullage.store.state.agent_figures import read_figures
from ullage.store.transcript.index import read_index, write_index
from ullage.store.transcript.reader import FileLines

BEGINNING_LINES = tuple(4 << n for n in range(9))
"""So many first lines are searched for a reported answer, and then twice as many: what follows it
may be a compaction, behind which it tells nothing (chosen)."""
BEGINNING_BYTES = 4 * 1024 * 1024
"""No first answer stands further down (chosen)."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it was read at one moment, and how full it was."""

    session: Session
    policy: Policy
    """For the session's model in its window."""
    status: Status
    reading: Reading
    count: TokenCounts
    """Counts with the encoding of the session's model; to be saved after use."""

    secrets: SessionSecrets
    figures: AgentFigures = NO_FIGURES
    """What its agent told of it while it ran, and nobody wrote into the transcript."""
    pins: tuple[str, ...] = ()
    """Texts of the configuration that every summary and checkpoint holds."""

    @property
    def path(self) -> Path:
        return self.session.path

    @property
    def context(self) -> Context:
        return self.status.context

    @property
    def known_secrets(self) -> tuple[str, ...]:
        """Values that must not leave the transcript, those that its messages name included."""
        return self.secrets.values_with(self.context.items)


def read(session: Session, places: Places) -> Reading:
    """Read a session's context, using the index kept from the last time."""
    lines = session.lines
    index = read_index(lines, places) if isinstance(lines, FileLines) else EMPTY_INDEX
    reading = session.agent.read_context(lines, session.header, index)
    if isinstance(lines, FileLines):
        write_index(lines, reading.index, index, places)
    return reading


def load(
    session: Session,
    config: Config,
    places: Places,
    count_text: CountText = count_tokens,
) -> Loaded:
    """Read a session's context and measure it; texts without a kept count are counted again."""
    places = places.for_reading(is_read_only=config.policy.is_read_only)
    reading = read(session, places)
    count = counts_for(reading.context.model, places, count_text)
    return measure_reading(session, reading, config, count, SessionSecrets(session.header, places))


def counts_for(model: str | None, places: Places, count_text: CountText) -> TokenCounts:
    """Give what counts tokens with the encoding of a model."""
    encoding = encoding_of(model)
    return TokenCounts(encoding, places.state_folder, count_text, is_kept=places.keeps_caches)


def measure_reading(
    session: Session,
    reading: Reading,
    config: Config,
    count: TokenCounts,
    secrets: SessionSecrets,
    sent: Context | None = None,
) -> Loaded:
    """Measure a context that was read; `sent` is what goes to the model of it, if not all."""
    context = mark_pins(reading.context, session, secrets)
    figures = figures_of(session, secrets.places)
    measured = context if sent is None else sent
    gauge = gauge_of(session, measured, config, count, secrets.places, figures)
    count.save()
    policy = config.policy_for(context.model, gauge.window.n_tokens, gauge.own_point_tokens)
    return Loaded(
        session=session,
        policy=policy,
        status=assess(context, gauge, policy, session.fresh_start()),
        reading=reading,
        count=count,
        secrets=secrets,
        figures=figures,
        pins=config.pins,
    )


def mark_pins(context: Context, session: Session, secrets: SessionSecrets) -> Context:
    """Mark the messages of a context that the user pinned."""
    # A prompt's hook measures a session without this, and must not pay for it.
    from ullage.store.state.pins import pins_path, read_pins

    pins = read_pins(pins_path(session.state_key, secrets.places)).pins
    if not (any(pin.entry_id for pin in pins) or any(item.is_pinned for item in context.items)):
        return context
    items = mark_pinned(context.items, pins, lambda text: mask(text, secrets.values))
    return msgspec.structs.replace(context, items=items)


def replace_items(loaded: Loaded, items: tuple[ContextItem, ...]) -> Loaded:
    """Give a session with other messages, and how full it was as it is."""
    context = msgspec.structs.replace(loaded.context, items=items)
    status = msgspec.structs.replace(loaded.status, context=context)
    return msgspec.structs.replace(loaded, status=status)


def figures_of(session: Session, places: Places) -> AgentFigures:
    """Give what a session's agent told of it while it ran."""
    return read_figures(session.header.agent, session.header.session_id, places)


def gauge_of(
    session: Session,
    context: Context,
    config: Config,
    count: TokenCounts,
    places: Places,
    figures: AgentFigures,
) -> Gauge:
    """Measure how full the window is that the model of a context has.

    A session that is not in a transcript has no settings: its runtime asks us when to compact it.
    """
    agent, header, model = session.agent_info, session.header, context.model
    row = find_model(header.agent, context.provider, model)
    if agent is None:
        return measure(context, resolve_window(context, config, None, row), count)
    cwd = Path(header.cwd) if header.cwd else places.cwd
    paths = agent.setting_files(session.path, cwd, places.env, places.home)
    settings = AgentSettings(sources=read_settings_files(paths), env=places.env)
    configured = agent.find_window(settings, context.provider or "", model or "")
    window = resolve_window(context, config, configured, row, figures.told_window)
    point = agent.find_compaction_point(
        RunningSession(
            header=header, path=session.path, model=model, window=window, settings=settings
        )
    )
    return measure(context, window, count, point, partial(_read_beginning, session))


def _read_beginning(session: Session) -> tuple[ContextItem, ...]:
    """Read a session's first messages, up to an answer whose usage was reported.

    Nothing where the first record follows one that is not there: what that request held is unknown.
    """
    lines, agent = session.lines, session.agent_info
    if not isinstance(lines, FileLines) or agent is None:
        return ()
    for n_lines in BEGINNING_LINES:
        first = takewhile(lambda line: line.offset < BEGINNING_BYTES, lines.forward())
        data = MemoryLines(b"".join(line.raw for line in islice(first, n_lines)))
        items = agent.read_context(data, session.header, EMPTY_INDEX).context.items
        if any(tells_usage(item) for item in items):
            entries = agent.read_entries(data, session.header)
            top = next((e for e in entries if isinstance(e, Entry) and e.entry_id), None)
            return items if top is None or top.parent_id is None else ()
    return ()
