"""The words of what happens by itself: nudges, questions, and what was done."""

import msgspec

from ullage.app.change.compact import Plan
from ullage.app.change.compact_report import gain_text, made_notes
from ullage.app.change.make import ChangeResult, copy_sentence, copy_text
from ullage.app.change.prune import PruningPlan
from ullage.app.gauge.status_text import name_text
from ullage.app.memory.flush import flush_log_name
from ullage.app.memory.report import flush_sentence
from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import has_model
from ullage.core.change.decision import READ_ONLY_PRESSURE, Ask
from ullage.core.config.settings import Config
from ullage.core.transcript.agent_lines import short_tokens
from ullage.store.files.places import Places

COMPACT_NOW, PRUNE_NOW, NOT_NOW, SNOOZE = "Compact Now", "Prune Now", "Not Now", "Snooze"
PREVIEW, PRUNE, COMPACT = "Preview…", "Prune", "Compact"
UNDO, REDO, VIEW, RESUME = "Undo", "Redo", "View", "Resume in Terminal"


class Question(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    buttons: tuple[str, ...]


def nudge(
    loaded: Loaded, pruning: PruningPlan | None, config: Config, places: Places, *, is_ours: bool
) -> Question:
    """Say how full the window is and what can be done; `is_ours` where we may do it now."""
    used = _used(loaded)
    if not is_ours:
        return Question(message=f"{used}: compact it in the agent.", buttons=(SNOOZE,))
    editor = loaded.session.agent.editor
    copy = f" {copy_text(loaded)}." if editor is not None and editor.makes_copies else ""
    if pruning is None:
        before = _before_compaction(loaded, config, places)
        return Question(
            message=f"{used}: a compaction makes room, and can be undone.{before}{copy}",
            buttons=(PREVIEW, COMPACT, SNOOZE),
        )
    freed = short_tokens(max(0, pruning.n_tokens_before - pruning.n_tokens_after))
    return Question(
        message=f"{used}: pruning old tool output would free {freed} tokens.{copy}",
        buttons=(PRUNE, SNOOZE),
    )


def ask_question(plan: Plan | PruningPlan, action: Ask, config: Config, places: Places) -> Question:
    """Ask whether to make what is due, with the figures of our own rules; the first says yes."""
    advice = "" if action.advice is None else f" ({action.advice})"
    head, gain = f"{_used(plan.loaded)}. Ullage would", f"{gain_text(plan)}.{advice}"
    copy = "" if plan.change is None else copy_sentence(plan.change)
    if isinstance(plan, PruningPlan):
        return Question(
            message=f"{head} prune it now: {gain} It can be undone.{copy}",
            buttons=(PRUNE_NOW, NOT_NOW, SNOOZE),
        )
    before = _before_compaction(plan.loaded, config, places)
    return Question(
        message=f"{head} compact it now: {gain}{before} It can be undone.{copy}",
        buttons=(COMPACT_NOW, NOT_NOW, SNOOZE),
    )


def _before_compaction(loaded: Loaded, config: Config, places: Places) -> str:
    """Say what is sent and written before a compaction, beside the session."""
    is_sent = has_model(config.model, places)
    model = " The configured model would be sent what goes, to summarize it." if is_sent else ""
    return model + flush_sentence(flush_log_name(loaded, config, places))


def done_text(plan: Plan | PruningPlan, made: ChangeResult) -> str:
    verb = "Pruned" if isinstance(plan, PruningPlan) else "Compacted"
    where = " into a new session" if made.is_elsewhere else ""
    checkpoint = "" if made.checkpoint_id is None else f" Checkpoint {made.checkpoint_id} written."
    notes = made_notes(plan, made) if isinstance(plan, Plan) else ()
    gain = " · ".join((gain_text(plan), *notes))
    return f"{verb} {name_text(plan.loaded)}{where}: {gain}.{checkpoint}"


def compacted_text(loaded: Loaded) -> str:
    return f"{_used(loaded)}: it was compacted or taken back meanwhile, nothing is done now."


def unprunable_text(loaded: Loaded) -> str:
    return f"{_used(loaded)}: there is nothing to prune any more."


def warning_text(loaded: Loaded, reason: str) -> str:
    return f"{name_text(loaded)}: {reason}."


def read_only(loaded: Loaded) -> str:
    return (
        f"{_used(loaded)}: {READ_ONLY_PRESSURE}. By `sandbox.readOnly` Ullage changes nothing;"
        " compact it in the agent."
    )


def _used(loaded: Loaded) -> str:
    gauge = loaded.status.gauge
    doubt = f" ({gauge.window.doubt})" if gauge.window.doubt else ""
    return f"Context {gauge.utilization or 0:.0%} used in {name_text(loaded)}{doubt}"
