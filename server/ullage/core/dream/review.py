"""A review of the inbox as a plan: the texts of memory as they will be, and what becomes of each
item. Nothing is deleted outright: what a newer line stands for goes to `memory/superseded.md`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.documents.instructions import find_openclaw_cut
from ullage.core.dream.memory_page import add_line, is_loss_too_large, remove_line
from ullage.core.memory.inbox import ID_CHARS, InboxItem, Section, cut_items, place_items
from ullage.core.memory.likeness import Likeness
from ullage.core.memory.origin import digest_line
from ullage.core.text.prose import plural, remove_list_mark

SUPERSEDED_TITLE = "# Superseded"
MAX_ACCEPTED = 500
"""Lines, at a time (chosen): agents load some 300 of `MEMORY.md`, and each is compared with all."""
Choice: TypeAlias = Literal["accept", "reject"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What a person decides of an item."""

    choice: Choice
    ids: tuple[str, ...]
    """Of the item; of several that are accepted as one line, the first tells its section."""
    text: str | None = None
    """The words that are accepted, where they are others than the item's."""


class MemoryTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The texts that a review changes, with LF; empty where there is no such file."""

    memory: str = ""
    inbox: str = ""
    superseded: str = ""
    rejected: str = ""
    """One text a line that was rejected, or accepted in other words: they do not come again."""


class AcceptedLine(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    section: Section
    items: tuple[InboxItem, ...]
    """What it was made of."""
    is_typed: bool
    """Whether its words are none of the items'."""


class ReviewOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a review will have done."""

    texts: MemoryTexts
    accepted: tuple[AcceptedLine, ...] = ()
    replaced: tuple[str, ...] = ()
    """Lines of `MEMORY.md` that leave it."""
    stood_for: tuple[str, ...] = ()
    """All that accepted lines stand for, wherever it was said."""
    rejected: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """Items that were accepted though `MEMORY.md` says them: they only leave the inbox."""
    refusal: str | None = None
    """Why nothing of it may be done, and what to do."""


def review(
    texts: MemoryTexts,
    decisions: Iterable[Decision],
    *,
    day: str,
    max_chars: int,
    clean: Callable[[InboxItem], InboxItem] = lambda item: item,
) -> ReviewOutcome:
    """Work a review out; `day` is today, `max_chars` what agents load of `MEMORY.md`.

    `clean` gives an item as it was shown to the person: nothing else of it is written.
    """
    items: dict[str, InboxItem] = {}
    for place in place_items(texts.inbox):
        items.setdefault(place.item.item_id, place.item)
    outcome = ReviewOutcome(texts=texts)
    decided: set[str] = set()
    rejected: list[InboxItem] = []
    for decision in decisions:
        unknown = [each for each in decision.ids if each not in items]
        if unknown or not decision.ids:
            what = unknown[0] if unknown else "nothing"
            return _refuse(texts, f"{what} names no item that waits: {_list_ids(items)}")
        twice = decided.intersection(decision.ids)
        if twice:
            return _refuse(texts, f"{min(twice)} is decided twice: decide each item once")
        decided.update(decision.ids)
        chosen = [clean(items[each]) for each in dict.fromkeys(decision.ids)]
        if decision.choice == "reject":
            rejected += chosen
        elif not (decision.text or chosen[0].finding):
            return _refuse(texts, f"{decision.ids[0]} has no words that may be shown: reject it")
        elif len(outcome.accepted) + len(outcome.known) == MAX_ACCEPTED:
            return _refuse(
                texts,
                f"{MAX_ACCEPTED} items at most are accepted at a time: agents load no more lines of"
                " MEMORY.md",
            )
        else:
            outcome = _accept(outcome, decision, chosen, day)
    outcome = _reject(outcome, rejected)
    # What an accepted line stands for waits no more.
    stood_for = {digest_line(old)[:ID_CHARS] for old in outcome.stood_for}
    inbox = cut_items(texts.inbox, frozenset(decided | stood_for))
    outcome = msgspec.structs.replace(
        outcome, texts=msgspec.structs.replace(outcome.texts, inbox=inbox)
    )
    refusal = _find_refusal(texts.memory, outcome.texts.memory, max_chars)
    return outcome if refusal is None else _refuse(texts, refusal)


def list_rejected(rejected: str) -> tuple[str, ...]:
    return tuple(line for line in rejected.split("\n") if line.strip())


def list_superseded(superseded: str) -> tuple[str, ...]:
    """List what was replaced, without the notes behind it."""
    lines = (remove_list_mark(line) for line in superseded.split("\n") if line.startswith("- "))
    return tuple(line.rpartition(_REPLACED_ON)[0] or line for line in lines)


_REPLACED_ON = " (replaced on "


def _reject(outcome: ReviewOutcome, chosen: Sequence[InboxItem]) -> ReviewOutcome:
    findings = tuple(item.finding for item in chosen)
    # What a model made an item of would come again without it.
    olds = (
        old
        for item in chosen
        for old in item.replaces
        if remove_line(outcome.texts.memory, old) is None
    )
    rejected = _add_rejected(outcome.texts.rejected, (*findings, *olds))
    return msgspec.structs.replace(
        outcome,
        texts=msgspec.structs.replace(outcome.texts, rejected=rejected),
        rejected=(*outcome.rejected, *findings),
    )


def _add_rejected(rejected: str, texts: Iterable[str]) -> str:
    return rejected + "".join(f"{text}\n" for text in dict.fromkeys(texts))


def _accept(
    outcome: ReviewOutcome, decision: Decision, chosen: Sequence[InboxItem], day: str
) -> ReviewOutcome:
    text = decision.text or chosen[0].finding
    line = AcceptedLine(
        text=text,
        section=chosen[0].section,
        items=tuple(chosen),
        is_typed=all(text != item.finding for item in chosen),
    )
    page, superseded = outcome.texts.memory, outcome.texts.superseded
    replaced: list[str] = []
    olds = dict.fromkeys(old for item in chosen for old in item.replaces)
    for old in olds:
        without = remove_line(page, old)
        if without is not None:
            page = without
            replaced.append(old)
        superseded = _add_superseded(superseded, old, text, day)
    alike = Likeness(text)
    # A person's own words may correct what is nearly the same: then both stand.
    says = alike.is_said_by if decision.text is None else alike.is_same
    is_known = any(says(each) for each in page.split("\n") if each.strip())
    if not is_known:
        page = add_line(page, line.section, text)
    # Its own words would come again, as the logs have them still.
    unsaid = (item.finding for item in chosen if not Likeness(item.finding).is_said_by(text))
    rejected = _add_rejected(outcome.texts.rejected, unsaid)
    return msgspec.structs.replace(
        outcome,
        texts=msgspec.structs.replace(
            outcome.texts, memory=page, superseded=superseded, rejected=rejected
        ),
        accepted=outcome.accepted if is_known else (*outcome.accepted, line),
        replaced=(*outcome.replaced, *replaced),
        stood_for=(*outcome.stood_for, *olds),
        known=(*outcome.known, text) if is_known else outcome.known,
    )


def _add_superseded(page: str, old: str, new: str, day: str) -> str:
    if any(old == each for each in list_superseded(page)):
        return page
    page = page or f"{SUPERSEDED_TITLE}\n\n"
    end = "" if page.endswith("\n") else "\n"
    return f"{page}{end}- {old}{_REPLACED_ON}{day} by: {new})\n"


def _find_refusal(before: str, after: str, max_chars: int) -> str | None:
    if is_loss_too_large(before, after):
        return (
            "this would take more than a quarter of the lines out of MEMORY.md: accept fewer items"
            " that replace some at a time"
        )
    if len(after) <= len(before):
        return None
    if find_openclaw_cut(after, max_chars) is not None:
        return (
            f"MEMORY.md would have {plural(len(after), 'character')}, more than agents load of it:"
            " take out what is old, or accept less"
        )
    return None


def _refuse(texts: MemoryTexts, refusal: str) -> ReviewOutcome:
    return ReviewOutcome(texts=texts, refusal=refusal)


def _list_ids(items: Iterable[str]) -> str:
    ids = list(items)
    if not ids:
        return "nothing waits in DREAMS.md"
    rest = f" and {len(ids) - 5:,} more" if len(ids) > 5 else ""
    return f"there are {', '.join(ids[:5])}{rest}"
