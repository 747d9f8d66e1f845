"""What is done at each event of a hook, and what the agent gets to read.

Each event imports what it needs: a tool call must not pay for what a compaction takes. Printed is
`hookSpecificOutput.additionalContext`, and beside it at most a `systemMessage` for the user: Codex
refuses keys that it does not know, and a `decision`, a `continue` or an exit code of 2 would stop
the user's work.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import msgspec

from ullage.agent import hook_event
from ullage.agent.quick_answer import find_folder
from ullage.app.config.load import load_config
from ullage.core.config.settings import Config, Policy
from ullage.errors import StorageError, UllageError, Unreadable
from ullage.store.files.places import Places, places_of_agent, session_folder
from ullage.store.files.quick_state import session_name

if TYPE_CHECKING:
    from ullage.app.checkpoint.resume import Resume
    from ullage.app.sessions.quick_load import LiveSession
    from ullage.core.checkpoint.captured import Event
    from ullage.core.checkpoint.checkpoint import Checkpoint

MAX_CONTEXT_CHARS = 9_000
"""Claude Code replaces what is above 10,000 by a preview; Codex cuts at 2,500 tokens, which
`injection_tokens` keeps far below (docs/design/agents.md, "Hooks")."""
CHECKPOINT_CHARS = 6_000
"""Of these, so that the rules of the workspace always have their room behind it."""
STEERING_CHARS = 4_000
"""Claude Code takes 10,000; after `/compact` the model reads the text once more (chosen)."""
NEW_S = 60.0
"""Between the event before a compaction and those after it the model writes a summary (chosen)."""
_MAX_NAME_CHARS = 100


class _Hook(msgspec.Struct, frozen=True, kw_only=True):
    """The session of an event, and what is done with it by the user's configuration."""

    origin: hook_event.HookSession
    config: Config
    places: Places

    @property
    def key(self) -> str:
        return self.origin.session_key

    @property
    def is_read_only(self) -> bool:
        return self.config.policy.is_read_only


def answer(event: hook_event.HookEvent) -> bytes:
    """Do what an event asks for, and give what is printed.

    Raises:
        UllageError: it cannot be done; nothing is printed then.
    """
    places = places_of_agent(find_folder(event.origin.cwd))
    config = load_config(places, workspace=places.cwd)
    hook = _Hook(origin=event.origin, config=config, places=places)
    match event:
        case hook_event.ToolUsed():
            return _after_tool(hook, event)
        case hook_event.PromptSent():
            return _before_prompt(hook, event)
        case hook_event.CompactionDue():
            return _before_compaction(hook)
        case hook_event.SessionResumed():
            return _on_resume(hook, is_compacted=event.is_compacted)
        case hook_event.SessionBegun():
            return _on_begin(hook)
        case _:
            assert_never(event)


def context_output(event_name: str, text: str, note: str | None = None) -> bytes:
    """Write what adds a text to the agent's context, with a note for its user; nothing without."""
    if not text:
        return b""
    output = {"hookEventName": event_name, "additionalContext": text[:MAX_CONTEXT_CHARS]}
    told = {} if note is None else {"systemMessage": note}
    return msgspec.json.encode({"hookSpecificOutput": output, **told})


def _after_tool(hook: _Hook, event: hook_event.ToolUsed) -> bytes:
    """Capture what a tool did; the first one after a compaction gives Copilot its state back."""
    from ullage.core.checkpoint.captured import ToolEvent

    _capture(hook, msgspec.convert(event, ToolEvent, from_attributes=True))
    if hook.is_read_only:
        return b""
    if hook.origin.has_transcript:
        _shorten_tool_calls(hook)
        return b""
    from ullage.store.state.runtime_state import take_mark

    if not take_mark(hook.key, hook.places):
        return b""
    from ullage.app.checkpoint.workspace_text import add_workspace
    from ullage.app.sessions.secrets import secrets_in
    from ullage.core.checkpoint.state_text import write_state
    from ullage.store.checkpoint.working_state import read_working_state

    state = read_working_state(hook.key, hook.places)
    edited, places = state.resources.files_modified, hook.places
    secrets = secrets_in((places.cwd,), places)
    return context_output(
        "PostToolUse", add_workspace(write_state(state), edited, places.cwd, secrets)
    )


def _shorten_tool_calls(hook: _Hook) -> None:
    """Let the next ones go the short way."""
    from ullage.core.secrets.rules import SIGNS
    from ullage.store.files import quick_state

    if (name := session_name(hook.origin.agent.name, hook.origin.session_id)) is None:
        return
    with suppress(OSError, ValueError):
        if quick_state.read_snapshot(name, quick_state.TOOL_EVENT, str(hook.places.cwd)):
            return
    from ullage.store.state.hook_snapshot import write_snapshot

    state = str(session_folder("state", hook.key, hook.places))
    told: dict[str, object] = {"signs": SIGNS, "state": state}
    write_snapshot(name, quick_state.TOOL_EVENT, hook.places, told)


def _before_prompt(hook: _Hook, event: hook_event.PromptSent) -> bytes:
    """Tell how full the window is from 70 % on, and save a checkpoint from 80 % on."""
    if not hook.origin.has_transcript:
        # Its transcript is not read later.
        from ullage.core.checkpoint.captured import MessageEvent
        from ullage.formats.speech import COMMON_MARKS

        _capture(hook, MessageEvent(role="user", text=COMMON_MARKS.read_typed(event.prompt)))
        return b""
    if not os.path.lexists(hook.origin.transcript or ""):
        # A session begins before its transcript does.
        return b""
    live = _read_session(hook)
    if live is None or live.gauge.utilization is None:
        return b""
    gauge, model = live.gauge, live.reading.context.model
    policy = hook.config.policy_for(model, gauge.window.n_tokens, gauge.own_point_tokens)
    is_urgent = live.gauge.utilization >= policy.checkpoint_ratio
    is_saved = is_urgent and not policy.is_read_only and _save_checkpoint(hook, live)
    if not hook.is_read_only:
        _shorten_prompts(hook, live, policy, is_saved=is_saved)
    if live.gauge.utilization < policy.gauge_ratio or not gauge.window.is_certain:
        return b""
    from ullage.core.gauge.gauge import gauge_line
    from ullage.core.transcript.agent_lines import advice_text

    line = gauge_line(gauge, is_checkpoint_saved=is_saved)
    if not is_urgent:
        return context_output("UserPromptSubmit", line)
    advice = advice_text(live.gauge.utilization, gauge.own_point_tokens)
    return context_output("UserPromptSubmit", f"{line}\n{advice}")


def _shorten_prompts(hook: _Hook, live: "LiveSession", policy: Policy, *, is_saved: bool) -> None:
    """Let the next ones go the short way; what keeps us from it is no matter of this prompt."""
    from ullage.app.checkpoint.prompt_snapshot import leave_snapshot

    if (name := session_name(hook.origin.agent.name, hook.origin.session_id)) is None:
        return
    percent = hook.config.checkpoint.minimum_change_percent
    checkpoints = session_folder("checkpoints", hook.key, hook.places) if is_saved else None
    with suppress(OSError, ValueError, UllageError):
        leave_snapshot(name, live, policy, percent, hook.places, checkpoints)


def _before_compaction(hook: _Hook) -> bytes:
    """Save a checkpoint; Claude Code's summarizer gets what must survive.

    Codex ignores the text, and an answer could only stop its turn. Copilot has no event
    after a compaction: a mark says to the next one that there was one.
    """
    if not hook.origin.has_transcript and not hook.is_read_only:
        from ullage.store.state.runtime_state import mark_compaction

        mark_compaction(hook.key, hook.places)
    live = _read_session(hook)
    if live is None:
        return b""
    checkpoint = _make_checkpoint(hook, live)
    if not hook.origin.agent.takes_steering:
        return b""
    from ullage.core.checkpoint.text import write_steering

    return write_steering(checkpoint, max_chars=STEERING_CHARS).encode("utf-8", "replace")


def _on_resume(hook: _Hook, *, is_compacted: bool) -> bytes:
    """Give the working state back after a compaction, unless somebody did already."""
    from ullage.app.checkpoint.resume import restore_after_compaction

    restored = restore_after_compaction(
        hook.key, hook.config.checkpoint, hook.places, max_checkpoint_chars=CHECKPOINT_CHARS
    )
    if restored is None:
        return b""
    if not is_compacted and not _is_missing(hook, restored.checkpoint):
        return b""
    return context_output("SessionStart", restored.text)


def _on_begin(hook: _Hook) -> bytes:
    """Offer a fresh session the work of the last one; its user is told too."""
    if not hook.origin.has_transcript:
        return b""
    from time import time

    from ullage.app.checkpoint.offer import offer_work

    offer = offer_work(
        hook.key,
        hook.config,
        hook.places,
        time(),
        session_id=hook.origin.session_id,
        max_chars=CHECKPOINT_CHARS,
        is_read_only=hook.is_read_only,
    )
    return b"" if offer is None else context_output("SessionStart", offer.text, offer.note)


def _capture(hook: _Hook, event: "Event") -> None:
    if not hook.is_read_only:
        from ullage.app.checkpoint.capture import capture

        capture(hook.key, (event,), hook.places, is_hook=True)


def _save_checkpoint(hook: _Hook, live: "LiveSession") -> bool:
    """Write the checkpoint that is due; where the disk does not take it, the prompt is sent."""
    from ullage.app.sessions.quick_load import has_checkpoint, load_fully

    settings, places = hook.config.checkpoint, hook.places
    with suppress(StorageError):
        if not has_checkpoint(hook.key, live, settings, places):
            from ullage.app.checkpoint.write import HOOK, write_checkpoint

            loaded = load_fully(live, hook.config, places)
            write_checkpoint(loaded, settings, places, trigger="auto-80pct", origin=HOOK)
        return True
    return False


def _make_checkpoint(hook: _Hook, live: "LiveSession") -> "Checkpoint":
    """Give what is known before a compaction, saved where that is allowed and possible."""
    from ullage.app.checkpoint.write import HOOK, build_checkpoint, write_checkpoint
    from ullage.app.sessions.quick_load import load_fully

    settings, places = hook.config.checkpoint, hook.places
    loaded = load_fully(live, hook.config, places)
    if not loaded.policy.is_read_only:
        with suppress(StorageError):
            return write_checkpoint(
                loaded, settings, places, trigger="compaction", origin=HOOK
            ).checkpoint
    return build_checkpoint(loaded, places, trigger="compaction")


def _is_missing(hook: _Hook, checkpoint: "Resume | None") -> bool:
    """Whether a session that is resumed lacks what its checkpoint says.

    What was not compacted since is in the context still. Codex reports the start of a session with
    its first request: a new checkpoint is of the compaction before it, which has its own event.
    """
    live = None if checkpoint is None else _read_session(hook)
    if checkpoint is None or live is None or live.reading.context.boundary is None:
        return False
    if checkpoint.meta.session_key == hook.key:
        n_since = len(live.reading.context.compactions) - checkpoint.meta.compaction_count
        if n_since <= 0 or _age_s(checkpoint.meta.created_at) < NEW_S:
            return False
    from ullage.app.sessions.quick_load import contains_text

    return not contains_text(live, checkpoint.text)


def _age_s(created_at: str) -> float:
    from datetime import UTC, datetime

    try:
        return (datetime.now(UTC) - datetime.fromisoformat(created_at)).total_seconds()
    except (ValueError, TypeError):
        return float("inf")


def _read_session(hook: _Hook) -> "LiveSession | None":
    """Read the session's transcript; None where the agent has none that we know.

    Raises:
        Unreadable: it names one that is not there, or is no file.
        NotATranscript: it is not this agent's, or of another session.
    """
    origin, agent = hook.origin, hook.origin.agent.transcripts
    if origin.transcript is None or agent is None:
        return None
    path = Path(origin.transcript)
    problem = _find_problem(path)
    if problem is not None:
        raise Unreadable(f"the transcript {path.name[:_MAX_NAME_CHARS]}: {problem}")
    from ullage.app.sessions.quick_load import read_live_session
    from ullage.formats.registry import agent_info

    info = agent_info(agent)
    return read_live_session(info, origin.session_id, path, hook.config, hook.places)


def _find_problem(path: Path) -> str | None:
    """Say why a path is none to open: a pipe would never let us go."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "it is not there"
    except (OSError, ValueError) as error:
        return (error.strerror if isinstance(error, OSError) else None) or str(error)
    return None if stat.S_ISREG(mode) else "it is no file"
