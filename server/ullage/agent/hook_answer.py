"""What is done at each event of a hook, and what the agent is told.

Each event imports what it needs: a tool call must not pay for what a compaction takes.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from ullage.agent.hook_event import CompactionAhead, GoesOn, HookEvent, Origin, Prompted, ToolUsed
from ullage.agent.hook_output import MAX_CONTEXT_CHARS, context_output
from ullage.app.config.load import load_config
from ullage.core.config.settings import Config
from ullage.errors import StorageError, Unreadable
from ullage.store.files.places import Places, state_folder

if TYPE_CHECKING:
    from ullage.app.checkpoint.resume import Resume
    from ullage.app.sessions.quick_load import Live
    from ullage.core.checkpoint.checkpoint import Checkpoint

STEERING_CHARS = 4_000
"""Claude Code takes 10,000; after `/compact` the model reads the text once more (chosen)."""
NEW_S = 60.0
"""Between the event before a compaction and those after it the model writes a summary (chosen)."""
_MAX_NAME_CHARS = 100


def answer(event: HookEvent) -> bytes:
    """Do what an event asks for, and give what is printed.

    Raises:
        UllageError: it cannot be done; nothing is printed then.
    """
    places = _places(event.origin)
    config = load_config(places, workspace=places.cwd)
    match event:
        case ToolUsed():
            return _after_tool(event, config, places)
        case Prompted():
            return _before_prompt(event, config, places)
        case CompactionAhead():
            return _before_compaction(event, config, places)
        case GoesOn():
            return _when_going_on(event, config, places)
        case _:
            assert_never(event)


def _places(origin: Origin) -> Places:
    """Give the surroundings of the agent; the folder that we run in may be gone.

    The folder of Claude Code's event follows its `cd`, its variable names the project.
    """
    env = dict(os.environ)
    named = env.get("CLAUDE_PROJECT_DIR") or origin.cwd
    cwd = Path(named) if named and Path(named).is_absolute() else Path.home()
    return Places(cwd=cwd, home=Path.home(), env=env, state_folder=state_folder(env))


def _after_tool(event: ToolUsed, config: Config, places: Places) -> bytes:
    """Capture what a tool did; the first one after a compaction gives Copilot its state back."""
    if config.policy.is_read_only:
        return b""
    from ullage.app.checkpoint.capture import capture
    from ullage.core.checkpoint.working_state import ToolEvent

    used = ToolEvent(
        call_id=event.call_id,
        name=event.name,
        arguments=event.arguments,
        is_error=event.is_error,
        error=event.error,
    )
    capture(event.origin.session_key, (used,), places)
    return _restored_state(event.origin, places) if event.origin.agent == "copilot" else b""


def _restored_state(origin: Origin, places: Places) -> bytes:
    from ullage.store.state.compaction_mark import take_mark

    if not take_mark(origin.session_key, places):
        return b""
    from ullage.app.checkpoint.capture import read_working_state
    from ullage.core.checkpoint.state_text import state_text

    return context_output("PostToolUse", state_text(read_working_state(origin.session_key, places)))


def _before_prompt(event: Prompted, config: Config, places: Places) -> bytes:
    """Tell how full the window is from 70 % on, and save a checkpoint from 80 % on."""
    if event.origin.agent == "copilot":
        return _heard(event, config, places)
    if not os.path.lexists(event.origin.transcript or ""):
        # A session begins before its transcript does.
        return b""
    live = _read(event.origin, config, places)
    if live is None or live.gauge.utilization is None:
        return b""
    policy = config.policy_for(live.reading.context.model, live.gauge.window.n_tokens)
    if live.gauge.utilization < policy.gauge_ratio:
        return b""
    from ullage.core.gauge.gauge import gauge_line
    from ullage.core.transcript.injected import advice_text

    if live.gauge.utilization < policy.checkpoint_ratio:
        return context_output("UserPromptSubmit", gauge_line(live.gauge, is_checkpoint_saved=False))
    is_saved = not policy.is_read_only and _has_checkpoint(
        event.origin.session_key, live, config, places
    )
    line = gauge_line(live.gauge, is_checkpoint_saved=is_saved)
    return context_output("UserPromptSubmit", f"{line}\n{advice_text(live.gauge.utilization)}")


def _heard(event: Prompted, config: Config, places: Places) -> bytes:
    """Capture what the user asks of Copilot: its transcript is not one that we read later."""
    if not config.policy.is_read_only:
        from ullage.app.checkpoint.capture import capture
        from ullage.core.checkpoint.working_state import MessageEvent

        said = MessageEvent(role="user", text=event.prompt)
        capture(event.origin.session_key, (said,), places)
    return b""


def _has_checkpoint(key: str, live: "Live", config: Config, places: Places) -> bool:
    """Write the checkpoint that is due; the prompt goes on where the disk does not take it."""
    from ullage.app.sessions.quick_load import is_saved, load_live

    with suppress(StorageError):
        if not is_saved(key, live, config.checkpoint, places):
            from ullage.app.checkpoint.write import write_checkpoint

            loaded = load_live(live, config, places)
            write_checkpoint(
                loaded, config.checkpoint, places, trigger="auto-80pct", channel="hook"
            )
        return True
    return False


def _before_compaction(event: CompactionAhead, config: Config, places: Places) -> bytes:
    """Save a checkpoint; Claude Code's summarizer is told what must survive.

    Codex ignores the text, and an answer of ours could only stop its turn. Copilot has no event
    after a compaction: a mark says to the next one that there was one.
    """
    if event.origin.agent == "copilot" and not config.policy.is_read_only:
        from ullage.store.state.compaction_mark import mark_compaction

        mark_compaction(event.origin.session_key, places)
    live = _read(event.origin, config, places)
    if live is None:
        return b""
    checkpoint = _checkpoint(live, config, places)
    if event.origin.agent != "claude-code":
        return b""
    from ullage.core.checkpoint.steering import steering_text

    return steering_text(checkpoint, max_chars=STEERING_CHARS).encode("utf-8", "replace")


def _checkpoint(live: "Live", config: Config, places: Places) -> "Checkpoint":
    """Give what is known before a compaction, saved where that is allowed and possible."""
    from ullage.app.checkpoint.write import build_checkpoint, write_checkpoint
    from ullage.app.sessions.quick_load import load_live

    loaded = load_live(live, config, places)
    if not loaded.policy.is_read_only:
        with suppress(StorageError):
            written = write_checkpoint(
                loaded, config.checkpoint, places, trigger="compaction", channel="hook"
            )
            return written.checkpoint
    return build_checkpoint(loaded, places, trigger="compaction")


def _when_going_on(event: GoesOn, config: Config, places: Places) -> bytes:
    """Give the working state back after a compaction, or where one took it and no one gave it."""
    from ullage.app.checkpoint.resume import resume

    key = event.origin.session_key
    found = resume(key, config.checkpoint, places, max_chars=MAX_CONTEXT_CHARS)
    if found is None or not (event.is_compacted or _is_missing(event, found, config, places)):
        return b""
    return context_output("SessionStart", found.text)


def _is_missing(event: GoesOn, found: "Resume", config: Config, places: Places) -> bool:
    """Whether a session that is resumed lacks what its checkpoint says.

    What was not compacted since is in the context still. Codex tells of the beginning of a
    session with its first request: a checkpoint that is new is of a compaction that went before
    it, which has an event of its own.
    """
    live = _read(event.origin, config, places)
    if live is None or live.reading.context.boundary is None:
        return False
    if found.meta.session_key == event.origin.session_key:
        n_since = len(live.reading.context.compactions) - found.meta.compaction_count
        if n_since <= 0 or _age_s(found.meta.created_at) < NEW_S:
            return False
    from ullage.app.sessions.quick_load import holds_text

    return not holds_text(live, found.text)


def _age_s(created_at: str) -> float:
    from datetime import UTC, datetime

    try:
        return (datetime.now(UTC) - datetime.fromisoformat(created_at)).total_seconds()
    except (ValueError, TypeError):
        return float("inf")


def _read(origin: Origin, config: Config, places: Places) -> "Live | None":
    """Read the session's transcript; None where the agent has none that we know.

    Raises:
        Unreadable: it names one that is not there, or is no file.
        NotATranscript: it is not this agent's, or of another session.
    """
    if origin.transcript is None or origin.agent == "copilot":
        return None
    path = Path(origin.transcript)
    problem = _problem_with(path)
    if problem is not None:
        raise Unreadable(f"the transcript {path.name[:_MAX_NAME_CHARS]}: {problem}")
    from ullage.app.sessions.quick_load import read_live

    return read_live(origin.agent, origin.session_id, path, config, places)


def _problem_with(path: Path) -> str | None:
    """Say why a path is none to open: a pipe would never let us go."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "it is not there"
    except (OSError, ValueError) as error:
        return (error.strerror if isinstance(error, OSError) else None) or str(error)
    return None if stat.S_ISREG(mode) else "it is no file"
