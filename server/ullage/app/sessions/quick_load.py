"""A session as its agent names it while it runs, read and measured quickly.

Hooks hold up the agent's work. So only the agent that is asked for is imported, what is not
counted yet is estimated without a tokenizer, and estimates are not kept.
"""

from pathlib import Path

import msgspec

from ullage.app.sessions.load import Loaded, figures_of, gauge_of, measure_reading, read
from ullage.app.sessions.secrets import SessionSecrets
from ullage.app.sessions.session import Session
from ullage.core.config.settings import CheckpointSettings, Config
from ullage.core.gauge.gauge import Gauge
from ullage.core.transcript.tokens import estimate_tokens
from ullage.errors import NotATranscript
from ullage.formats.agent_info import AgentInfo
from ullage.formats.reading import Reading
from ullage.store.files.places import Places, session_folder
from ullage.store.gauge.token_counts import TokenCounts
from ullage.store.gauge.tokenizer import DEFAULT_ENCODING
from ullage.store.transcript.reader import FileLines


class LiveSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was read and measured, without its secrets being looked for."""

    session: Session
    reading: Reading
    gauge: Gauge
    count: TokenCounts


def read_live_session(
    agent: AgentInfo, session_id: str, path: Path, config: Config, places: Places
) -> LiveSession:
    """Read the transcript that an agent names, and measure it.

    In read-only mode nothing is kept of where its parts are.

    Raises:
        Unreadable: the file cannot be read.
        NotATranscript: it is not this agent's, or of another session.
    """
    lines = FileLines(path)
    header = agent.read_header(lines)
    if header is None:
        raise NotATranscript(f"{path.name} is not a transcript of {agent.name}: update Ullage")
    session = Session(agent_info=agent, header=header.named(path.stem), lines=lines)
    if session.header.session_id != session_id:
        raise NotATranscript(f"{path.name} is of another session than {agent.name} says")
    reading = read(session, places.for_reading(is_read_only=config.policy.is_read_only))
    count = _estimates(places)
    figures = figures_of(session, places)
    gauge = gauge_of(session, reading.context, config, count, places, figures)
    count.save()
    return LiveSession(session=session, reading=reading, gauge=gauge, count=count)


def load_fully(live: LiveSession, config: Config, places: Places) -> Loaded:
    """Load what a checkpoint is made from, with the secrets that must be masked."""
    secrets = SessionSecrets(live.session.header, places)
    return measure_reading(live.session, live.reading, config, live.count, secrets)


def load_quickly(session: Session, config: Config, places: Places) -> Loaded:
    """Load any session, with the secrets that must be masked and no token counted."""
    reading = read(session, places.for_reading(is_read_only=config.policy.is_read_only))
    secrets = SessionSecrets(session.header, places)
    return measure_reading(session, reading, config, _estimates(places), secrets)


def _estimates(places: Places) -> TokenCounts:
    return TokenCounts(
        DEFAULT_ENCODING, places.state_folder, lambda text, _: estimate_tokens(text), is_kept=False
    )


def has_checkpoint(
    session_key: str, live: LiveSession, settings: CheckpointSettings, places: Places
) -> bool:
    """Whether there is a checkpoint of this context, nearly as full as it is now.

    It says before one is built what `write_checkpoint` says after, for each prompt above 80 %.
    """
    from ullage.core.checkpoint.diff import is_near_to
    from ullage.store.checkpoint.files import read_latest

    latest = read_latest(session_folder("checkpoints", session_key, places)).checkpoint
    return latest is not None and is_near_to(
        latest,
        session_file=str(live.session.path),
        n_compactions=len(live.reading.context.compactions),
        n_input_tokens=live.gauge.used_tokens or 0,
        minimum_change_percent=settings.minimum_change_percent,
    )


def contains_text(live: LiveSession, text: str) -> bool:
    """Whether a text was written to the transcript since the last compaction, in whatever entry.

    All agents escape JSON alike: no more than they must.
    """
    compactions = live.reading.context.compactions
    start = compactions[-1].offset if compactions else 0
    needle = msgspec.json.encode(text)[1:-1]
    return any(needle in line.raw for line in live.session.lines.forward(start))
