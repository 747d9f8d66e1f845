"""The words of what happens by itself: nudges, questions, and what was done."""

import msgspec

from ullage.app.change.compact import Plan
from ullage.app.change.compact_report import gain_text, made_notes
from ullage.app.change.make import Made
from ullage.app.change.prune import Pruning
from ullage.app.change.undo import Undone
from ullage.app.gauge.status_text import session_title
from ullage.app.memory.report import flush_sentence
from ullage.app.sessions.load import Loaded
from ullage.core.change.decision import Ask
from ullage.core.gauge.gauge import short_tokens

COMPACT_NOW, PRUNE_NOW, NOT_NOW, SNOOZE = "Compact Now", "Prune Now", "Not Now", "Snooze"
PREVIEW, PRUNE, COMPACT = "Preview…", "Prune", "Compact"
UNDO, VIEW = "Undo", "View"


class Nudge(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    buttons: tuple[str, ...]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    button: str
    """The one that says yes."""


def nudge(loaded: Loaded, pruning: Pruning | None, log_name: str | None, *, is_ours: bool) -> Nudge:
    """Say how full the window is and what can be done; `is_ours` where we may do it now."""
    used = _used(loaded)
    if not is_ours:
        return Nudge(message=f"{used}: compact it in the agent.", buttons=(SNOOZE,))
    if pruning is None:
        return Nudge(
            message=f"{used}: a compaction makes room, and can be undone."
            f"{flush_sentence(log_name)}",
            buttons=(PREVIEW, COMPACT, SNOOZE),
        )
    freed = short_tokens(max(0, pruning.n_tokens_before - pruning.n_tokens_after))
    return Nudge(
        message=f"{used}: pruning old tool output would free {freed} tokens.",
        buttons=(PRUNE, SNOOZE),
    )


def question(
    plan: Plan | Pruning, log_name: str | None, action: Ask, *, has_model: bool
) -> Question:
    """Ask whether to make what is due, with the figures of our own rules.

    `log_name` is of the log that a compaction adds to before.
    """
    is_prune = isinstance(plan, Pruning)
    advice = "" if action.advice is None else f" ({action.advice})"
    model = " The configured model would be sent what goes, to summarize it." if has_model else ""
    besides = "" if is_prune else f"{model}{flush_sentence(log_name)}"
    return Question(
        message=f"{_used(plan.loaded)}. Ullage would {'prune' if is_prune else 'compact'} it now:"
        f" {gain_text(plan)}.{advice}{besides} It can be undone.",
        button=PRUNE_NOW if is_prune else COMPACT_NOW,
    )


def done(plan: Plan | Pruning, made: Made) -> str:
    what = "Pruned" if isinstance(plan, Pruning) else "Compacted"
    checkpoint = "" if made.checkpoint_id is None else f" Checkpoint {made.checkpoint_id} written."
    notes = made_notes(plan, made) if isinstance(plan, Plan) else ()
    told = " · ".join((gain_text(plan), *notes))
    return f"{what} {_name(plan.loaded)}: {told}.{checkpoint}{way_on(made)}"


def way_on(changed: Made | Undone) -> str:
    """Tell the command that goes on with a session whose file is another one now."""
    return f" Go on with: {changed.resume_command}" if changed.is_elsewhere else ""


def compacted_since(loaded: Loaded) -> str:
    return f"{_used(loaded)}: it was compacted or taken back meanwhile, nothing is done now."


def nothing_to_prune(loaded: Loaded) -> str:
    return f"{_used(loaded)}: there is nothing to prune any more."


def warned(loaded: Loaded, reason: str) -> str:
    return f"{_name(loaded)}: {reason}."


def read_only(loaded: Loaded) -> str:
    return (
        f"{_used(loaded)}: by `sandbox.readOnly` Ullage changes nothing; compact it in the agent."
    )


def _used(loaded: Loaded) -> str:
    return f"Context {loaded.status.gauge.utilization or 0:.0%} used in {_name(loaded)}"


def _name(loaded: Loaded) -> str:
    header = loaded.session.header
    return session_title(header.known_agent, header.session_id)
