"""Tell the user of a session that its window fills, once among all windows of all editors."""

from collections.abc import Callable

import msgspec

from ullage.app.sessions.load import Loaded
from ullage.core.change.decision import find_due_compaction, read_only_warning_at
from ullage.core.gauge.gauge import Layer
from ullage.core.gauge.nudge import NudgedBand, Nudges, ask, may_ask, nudge, record_return, snooze
from ullage.store.files.places import Places
from ullage.store.state.auto_state import AutoState, change_auto_state, read_auto_state


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """The right to say something, which no other process has; given back where nobody hears it."""

    before: Nudges
    after: Nudges


def claim_nudge(loaded: Loaded, places: Places) -> Claim | None:
    """Claim to tell of the band that the context came into; None where there is nothing to tell.

    Raises:
        StorageError: the state folder does not take it; then nobody is told.
    """
    utilization = loaded.status.gauge.utilization
    n_compactions = len(loaded.context.compactions)

    def judged(nudges: Nudges) -> tuple[Nudges, NudgedBand | None]:
        return nudge(nudges, utilization, n_compactions, loaded.policy)

    nudges = read_auto_state(loaded.session.state_key, places).nudges
    if judged(nudges)[0] == nudges:
        return None
    return _claim(loaded, judged, places)


def is_question_open(loaded: Loaded, places: Places) -> bool:
    """Tell whether the user may still be asked about what can be due at this size of the context.

    Without a plan: so that none is made where the answer is no.
    """
    nudges = read_auto_state(loaded.session.state_key, places).nudges
    n_compactions = len(loaded.context.compactions)
    return may_ask(nudges, strongest_layer(loaded), loaded.status.band, n_compactions)


def claim_question(loaded: Loaded, layer: Layer, places: Places) -> Claim | None:
    """Claim to ask about a layer; None where that was asked or is snoozed.

    Raises:
        StorageError: the state folder does not take it; then nobody is asked.
    """
    band, n_compactions = loaded.status.band, len(loaded.context.compactions)
    return _claim(loaded, lambda nudges: ask(nudges, layer, band, n_compactions), places)


def give_back(loaded: Loaded, claim: Claim, places: Places) -> None:
    """Let it be said again what nobody heard, unless something else was said since.

    Raises:
        StorageError: the state folder does not take it.
    """
    _change(loaded, lambda now: claim.before if now == claim.after else now, places)


def snooze_session(loaded: Loaded, places: Places) -> None:
    """Tell and ask nothing more until the next compaction or a higher band.

    Raises:
        StorageError: the state folder does not take it.
    """
    band, n_compactions = loaded.status.band, len(loaded.context.compactions)
    _change(loaded, lambda nudges: snooze(nudges, band, n_compactions), places)


def remember_return(loaded: Loaded, places: Places) -> None:
    """Let nothing be said of a band that a session was in before the change that was undone.

    Raises:
        StorageError: the state folder does not take it.
    """
    layer, band = strongest_layer(loaded), loaded.status.band
    n_compactions = len(loaded.context.compactions)
    _change(loaded, lambda nudges: record_return(nudges, layer, band, n_compactions), places)


def is_read_only_full(loaded: Loaded) -> bool:
    """Tell whether to warn of a session that cannot be compacted."""
    gauge = loaded.status.gauge
    warning_at = read_only_warning_at(gauge.window.n_tokens, loaded.policy)
    return gauge.used_tokens is not None and gauge.used_tokens >= warning_at


def strongest_layer(loaded: Loaded) -> Layer:
    """Give the strongest layer that can be due at this size of the context."""
    gauge = loaded.status.gauge
    used, window = gauge.used_tokens or 0, gauge.window.n_tokens
    return find_due_compaction(used, window, loaded.policy) or "prune"


def _claim(
    loaded: Loaded, judged: Callable[[Nudges], tuple[Nudges, object]], places: Places
) -> Claim | None:
    claim: Claim | None = None

    def changed(before: Nudges) -> Nudges:
        nonlocal claim
        after, is_claimed = judged(before)
        claim = Claim(before=before, after=after) if is_claimed else None
        return after

    _change(loaded, changed, places)
    return claim


def _change(loaded: Loaded, changed: Callable[[Nudges], Nudges], places: Places) -> None:
    def with_nudges(state: AutoState) -> AutoState:
        return msgspec.structs.replace(state, nudges=changed(state.nudges))

    change_auto_state(loaded.session.state_key, with_nudges, places)
