"""Prune a session: placeholders take the place of old tool output, the pairs stay.

The plan is made in memory and shows the context that would be sent, for every agent. Making it
changes the session on disk, where that is ours to do.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.app.change import make
from ullage.app.gauge.status_text import about, local_time
from ullage.app.sessions.find import MIN_ID_CHARS
from ullage.app.sessions.load import Loaded, mark_pins, replace_items
from ullage.core.change.compaction import count_hidden_tokens, refuse_open_calls
from ullage.core.change.edit import FileChange, PruneEdit, Replacement
from ullage.core.change.prune import (
    ALL_REASONS,
    PruneItem,
    PrunePlan,
    Reason,
    plan_prune,
    plan_rescue,
)
from ullage.core.config.settings import Config
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import plural
from ullage.core.text.short_paths import Label, shorten_paths
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import JsonObject
from ullage.core.transcript.tokens import count_items
from ullage.errors import UnknownItem, WriteNotSupported
from ullage.store.files.places import Places

PruneMessage: TypeAlias = Callable[[JsonObject, Sequence[Replacement]], JsonObject]
"""Puts placeholders into a message of some shape."""
MAX_LABEL_CHARS = 240
"""Of a command or of arguments, in JSON (chosen)."""
NAME_CHARS = 80
"""A line of a list in an editor (chosen)."""
SHORT_ID_CHARS, SHORT_ENTRY_CHARS = 13, 8
"""As much of an item's id as names it, or of its entry: `ullage prune --item` takes beginnings."""
MAX_SHOWN_ITEMS = 30
"""More than fit a screen hide the question that follows (chosen)."""


class PruneRequest(msgspec.Struct, frozen=True, kw_only=True):
    chosen: tuple[str, ...] | None = None
    """Items by their ids or the beginnings of these; None for what the rules choose."""
    is_everything: bool = False
    """Whether superseded reads, duplicates and old images go too."""
    is_rescue: bool = False
    """Whether the largest outputs go, recent ones too, until the context fits its window."""


class PruningPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A prune that is worked out, and not made yet."""

    loaded: Loaded
    plan: PrunePlan
    n_tokens_before: int
    n_tokens_after: int
    messages: list[JsonObject]
    """The context without what is pruned, in the agent's own shape."""
    change: make.ChangePlan | None
    """What makes it on disk, to the last byte."""
    refusal: str | None
    """Why there is no such change."""


class NothingToPrune(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing is pruned, and what could be."""

    loaded: Loaded
    plan: PrunePlan
    reason: str


class PruneItemReport(msgspec.Struct, frozen=True, kw_only=True):
    """One output, or the images of one message, that a placeholder can stand for."""

    id: str
    """What `ullage prune --item` takes."""
    entry_id: str
    tool: str
    label: str
    """What it was: a path, a command."""
    reason: Reason
    tokens_freed: int
    chosen: bool


class PruneReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage prune --json`."""

    outcome: Literal["planned", "pruned", "nothing"]
    path: str
    reason: str | None = None
    """Why there is nothing to do."""
    items: list[PruneItemReport]
    """All that can be pruned, chosen or not, in the order of the context."""
    tokens_freed: int
    tokens_before: int | None = None
    tokens_after: int | None = None
    messages: list[JsonObject] | None = None
    """The context afterwards, in the agent's own shape."""
    in_memory_only: str | None = None
    """Why the session itself cannot be pruned; the messages show what could be sent."""
    path_after: str | None = None
    """Where the session goes on: a new file for agents whose files are never changed."""
    resume: str | None = None
    checkpoint_id: str | None = None


def plan_pruning(loaded: Loaded, request: PruneRequest) -> PruningPlan | NothingToPrune:
    """Work out a prune without writing anything.

    Raises:
        UnknownItem: an item was named that cannot be pruned.
        AlreadyChanged: the session goes on in a new file already.
    """
    # They may be others than when the session was read.
    items = mark_pins(loaded.context, loaded.session, loaded.secrets).items
    loaded = replace_items(loaded, items)
    plan = _choose_outputs(loaded, request)
    _refuse_unknown(plan.unknown_ids)
    waiting = refuse_open_calls(items)
    reason = plan.refusal if waiting is None else waiting.reason
    if reason is not None:
        return NothingToPrune(loaded=loaded, plan=plan, reason=reason)
    n_counted = count_items(items, loaded.count)
    n_before = count_hidden_tokens(loaded.status.gauge, n_counted) + n_counted
    try:
        change, refusal = _change(loaded, plan), None
    except WriteNotSupported as error:
        change, refusal = None, str(error)
    return PruningPlan(
        loaded=loaded,
        plan=plan,
        n_tokens_before=n_before,
        n_tokens_after=n_before - plan.n_freed if change is None else change.n_tokens_after,
        messages=pruned_messages(loaded, plan.replacements),
        change=change,
        refusal=refusal,
    )


def pruned_messages(loaded: Loaded, replacements: Iterable[Replacement]) -> list[JsonObject]:
    """Give the context with placeholders, in the agent's own shape; nothing is written."""
    agent = loaded.session.agent
    items = with_placeholders(loaded.context.items, replacements, agent.prune_message)
    return agent.messages(msgspec.structs.replace(loaded.context, items=items))


def with_placeholders(
    items: Sequence[ContextItem], replacements: Iterable[Replacement], prune_message: PruneMessage
) -> tuple[ContextItem, ...]:
    """Put placeholders into the agent's own messages; an untouched one stays the same object."""
    by_entry: dict[str, list[Replacement]] = {}
    for replacement in replacements:
        by_entry.setdefault(replacement.entry_id, []).append(replacement)
    # Several items may be parts of one message (opencode): it is changed once, for all of them.
    of_native: dict[int, list[Replacement]] = {}
    for item in items:
        of_native.setdefault(id(item.native), []).extend(by_entry.get(item.entry_id, ()))
    pruned: dict[int, JsonObject] = {}
    for item in items:
        wanted = of_native[id(item.native)]
        if id(item.native) not in pruned:
            native = prune_message(item.native, wanted) if wanted else item.native
            pruned[id(item.native)] = native
    return tuple(msgspec.structs.replace(item, native=pruned[id(item.native)]) for item in items)


def change_of(pruning: PruningPlan) -> make.ChangePlan:
    """Give what makes a prune on disk.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    if pruning.change is None:
        raise WriteNotSupported(pruning.refusal or "")
    return pruning.change


def prune(pruning: PruningPlan, config: Config, places: Places) -> make.ChangeResult:
    """Make a planned prune.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
        SessionLive: an agent or another Ullage is using the session.
        ChangedMeanwhile: the transcript is not what the plan was made from.
        StorageError: the disk or the state folder does not take it.
    """
    change = change_of(pruning)
    entry_ids = {replacement.entry_id for replacement in pruning.plan.replacements}
    items = pruning.loaded.context.items
    replaced = [item for item in items if item.entry_id in entry_ids]
    return make.make_change(change, config, places, kind="prune", layer="prune", replaced=replaced)


def _choose_outputs(loaded: Loaded, request: PruneRequest) -> PrunePlan:
    items, policy, count = loaded.context.items, loaded.policy, loaded.count
    if request.is_rescue:
        gauge = loaded.status.gauge
        n_hidden = count_hidden_tokens(gauge, count_items(items, count))
        room = gauge.window.n_tokens - policy.reserve_tokens - n_hidden
        return plan_rescue(items, policy, count, room_tokens=room)
    plan = plan_prune(items, policy, count)
    offered = plan.items
    wanted = [item.item_id for item in offered if item.reason in ALL_REASONS]
    if request.is_everything and wanted:
        return plan_prune(items, policy, count, chosen=wanted)
    if request.chosen is None:
        return plan
    chosen = [item_id for name in request.chosen for item_id in _find_named(name, offered)]
    return plan_prune(items, policy, count, chosen=chosen)


def _find_named(name: str, offered: Iterable[PruneItem]) -> list[str]:
    """Give the items that a user means: those of an entry, by its id or the beginning of one."""
    exact = [item.item_id for item in offered if item.item_id == name]
    entry, _, rest = name.partition("/")
    return (
        exact
        or [
            item.item_id
            for item in offered
            if len(entry) >= MIN_ID_CHARS
            and item.replacement.entry_id.startswith(entry)
            and item.item_id.partition("/")[2].startswith(rest)
        ]
        or [name]
    )


def _change(loaded: Loaded, plan: PrunePlan) -> make.ChangePlan:
    target = make.change_target(loaded.session)
    timestamp = make.now_text()

    def render(entry_id: str, n_tokens_before: int, n_tokens_after: int | None) -> FileChange:
        edit = PruneEdit(
            entry_id=entry_id,
            timestamp=timestamp,
            replacements=plan.replacements,
            n_tokens_before=n_tokens_before,
            n_tokens_after=n_tokens_after,
        )
        return target.editor.prune(target.lines, loaded.context, edit)

    return make.plan_change(loaded, "prune", render)


def _refuse_unknown(item_ids: Collection[str]) -> None:
    if item_ids:
        raise UnknownItem(
            f"cannot prune {', '.join(sorted(item_ids))}: gone, pruned before, or protected;"
            " `ullage prune --dry-run` lists what can go, with its ids"
        )


def report_unpruned(unpruned: NothingToPrune) -> PruneReport:
    return PruneReport(
        outcome="nothing",
        path=str(unpruned.loaded.path),
        reason=unpruned.reason,
        items=_items(unpruned.plan, unpruned.loaded.known_secrets),
        tokens_freed=0,
    )


def report_pruning(pruning: PruningPlan) -> PruneReport:
    change = pruning.change
    return PruneReport(
        outcome="planned",
        path=str(pruning.loaded.path),
        items=_items(pruning.plan, pruning.loaded.known_secrets),
        tokens_freed=pruning.plan.n_freed,
        tokens_before=pruning.n_tokens_before,
        tokens_after=pruning.n_tokens_after,
        messages=pruning.messages,
        in_memory_only=pruning.refusal,
        path_after=None if change is None else str(change.path_after),
    )


def report_pruned(pruning: PruningPlan, made: make.ChangeResult) -> PruneReport:
    return msgspec.structs.replace(
        report_pruning(pruning),
        outcome="pruned",
        checkpoint_id=made.checkpoint_id,
        resume=made.resume_command,
    )


def unpruned_text(unpruned: NothingToPrune, n_columns: int) -> str:
    lines = [about(unpruned.loaded, f"Nothing to do: {unpruned.reason}")]
    items = unpruned.plan.items
    if items:
        n_tokens = sum(item.n_freed for item in items)
        lines += [
            "",
            f"Could go if you ask for it ({n_tokens:,} tokens with --all, or single --item ID):",
            *_item_lines(items, unpruned.plan, unpruned.loaded, n_columns),
        ]
    return "\n".join(lines)


def pruning_text(pruning: PruningPlan, n_columns: int) -> str:
    before, after, change = pruning.n_tokens_before, pruning.n_tokens_after, pruning.change
    chosen = [item for item in pruning.plan.items if item.is_chosen]
    lines = [
        f"Current context: {before:,} tokens",
        f"Estimated after pruning: {after:,} tokens",
        f"Potential savings: {before - after:,} tokens",
        "",
        f"Replaced by a placeholder ({len(chosen):,}):",
        *_item_lines(chosen, pruning.plan, pruning.loaded, n_columns),
    ]
    refusal = [f"Only a preview: {pruning.refusal}"]
    where = refusal if change is None else make.new_file_lines(change)
    return "\n".join((*lines, *(("", *where) if where else ())))


def pruned_text(pruning: PruningPlan, made: make.ChangeResult) -> str:
    return "\n".join(
        (
            about(pruning.loaded, f"✓ Pruned {plural(len(pruning.plan.replacements), 'output')}"),
            f"  {pruning.n_tokens_before:,} → {pruning.n_tokens_after:,} tokens",
            make.written_before_line(made),
            *make.way_on_lines(made.resume_command),
        )
    )


def _items(plan: PrunePlan, secrets: tuple[str, ...]) -> list[PruneItemReport]:
    return [
        PruneItemReport(
            id=item.item_id,
            entry_id=item.replacement.entry_id,
            tool=item.tool,
            label=_masked(item.label, secrets).cut(MAX_LABEL_CHARS),
            reason=item.reason,
            tokens_freed=item.n_freed,
            chosen=item.is_chosen,
        )
        for item in plan.items
    ]


def item_name(item: PruneItem, loaded: Loaded) -> str:
    """Name an item by its tool and by what it is of, for a line of an editor."""
    return _item_label(item, loaded).cut(NAME_CHARS) or item.reason.capitalize()


def _item_label(item: PruneItem, loaded: Loaded) -> Label:
    """Name what an item is of, with paths below the folder that is worked in."""
    label = _masked(item.label, loaded.known_secrets)
    home = str(loaded.secrets.places.home)
    short = shorten_paths(label.text, loaded.session.header.cwd, home)
    return Label(short, label.is_path, item.tool)


def _masked(label: Label, secrets: tuple[str, ...]) -> Label:
    return Label(mask(label.text, secrets), label.is_path)


def _item_lines(
    items: Sequence[PruneItem], plan: PrunePlan, loaded: Loaded, n_columns: int
) -> list[str]:
    """Write a line for each item, the largest of many; the JSON has them all."""
    largest = sorted(items, key=lambda item: item.n_freed, reverse=True)[:MAX_SHOWN_ITEMS]
    shown = [item for item in items if item in largest]
    # An item is named among all that could go.
    entries = Counter(item.item_id[:SHORT_ENTRY_CHARS] for item in plan.items)
    lines: list[str] = []
    for item in shown:
        is_alone = entries[item.item_id[:SHORT_ENTRY_CHARS]] == 1
        short_id = item.item_id[: SHORT_ENTRY_CHARS if is_alone else SHORT_ID_CHARS]
        at = local_time(item.at_ms)
        head = f"{item.n_freed:>9,}  {item.reason:<15}  {at:<11}  {short_id}  "
        lines.append(head + _item_label(item, loaded).cut(n_columns - len(head)))
    if len(shown) < len(items):
        n_tokens = sum(item.n_freed for item in items if item not in largest)
        lines.append(f"{n_tokens:>9,}  {len(items) - len(shown):,} smaller ones (--json lists all)")
    return lines
