"""A review of the inbox as a plan: the texts of memory as they will be, and what becomes of each
item. Nothing is deleted outright: what a newer line stands for goes to `memory/superseded.md`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.documents.instructions import find_openclaw_cut
from ullage.core.dream.memory_page import add_line, is_loss_too_large, read_points, remove_point
from ullage.core.memory.inbox import InboxItem, Section, change_texts, cut_items, place_items
from ullage.core.memory.likeness import Likeness
from ullage.core.memory.origin import normalize_line
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
    keeps_replaced: bool = False
    """Whether what the item says it stands for stays beside it."""


class MemoryTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The texts that a review changes, with LF; empty where there is no such file."""

    memory: str = ""
    inbox: str = ""
    superseded: str = ""
    rejected: str = ""
    """One text a line that was rejected, replaced or accepted in other words: they do not come
    again."""


class AcceptedLine(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    section: Section
    items: tuple[InboxItem, ...]
    """What it was made of."""
    is_typed: bool
    """Whether its words are a person's own: they are not nearly those of an item."""


class ReviewOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a review will have done."""

    texts: MemoryTexts
    accepted: tuple[AcceptedLine, ...] = ()
    replaced: tuple[str, ...] = ()
    """Points of `MEMORY.md` that leave it, as they are shown."""
    settled: tuple[str, ...] = ()
    """Items that wait no more, as an accepted line stands for them."""
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
    quote: Callable[[str], str] = lambda text: text,
) -> ReviewOutcome:
    """Work a review out; `day` is today, `max_chars` what agents load of `MEMORY.md`.

    `quote` gives a text as it was shown to the person: nothing else of an item is written. What
    was said first is decided first, however the decisions come: what replaces it finds it.
    """
    items: dict[str, InboxItem] = {}
    for place in place_items(texts.inbox):
        items.setdefault(place.item.item_id, place.item)
    decisions = tuple(decisions)
    refusal = _find_wrong(decisions, items, quote)
    if refusal is not None:
        return _refuse(texts, refusal)
    outcome = ReviewOutcome(texts=texts)
    stood_for: dict[str, str] = {}
    for decision in sorted(decisions, key=lambda each: (items[each.ids[0]].day, each.ids)):
        chosen = [change_texts(items.pop(each), quote) for each in dict.fromkeys(decision.ids)]
        if decision.choice == "reject":
            outcome = _reject(outcome, chosen)
            continue
        outcome = _accept(outcome, decision, chosen, quote, day)
        if not decision.keeps_replaced:
            newest = max(item.day for item in chosen)
            stood_for |= {normalize_line(old): newest for item in chosen for old in item.replaces}
    settled = [
        item
        for item in items.values()
        # What was said again since is meant again.
        if item.day <= stood_for.get(normalize_line(quote(item.finding)), "")
    ]
    gone = {each for decision in decisions for each in decision.ids}
    gone.update(item.item_id for item in settled)
    outcome = msgspec.structs.replace(
        outcome,
        texts=msgspec.structs.replace(outcome.texts, inbox=cut_items(texts.inbox, gone)),
        settled=tuple(quote(item.finding) for item in settled),
    )
    refusal = _find_refusal(texts.memory, outcome.texts.memory, max_chars)
    return outcome if refusal is None else _refuse(texts, refusal)


def _find_wrong(
    decisions: Sequence[Decision], items: Mapping[str, InboxItem], quote: Callable[[str], str]
) -> str | None:
    """Find what cannot be decided so, in words; None where all can."""
    decided: set[str] = set()
    for decision in decisions:
        unknown = [each for each in decision.ids if each not in items]
        if unknown or not decision.ids:
            what = unknown[0] if unknown else "nothing"
            return f"{what} names no item that waits as it was shown: {_list_ids(items)}"
        twice = decided.intersection(decision.ids)
        if twice:
            return f"{min(twice)} is decided twice: decide each item once"
        decided.update(decision.ids)
        has_words = decision.text or quote(items[decision.ids[0]].finding).strip()
        if decision.choice == "accept" and not has_words:
            return f"{decision.ids[0]} has no words that may be shown: reject it"
    if sum(decision.choice == "accept" for decision in decisions) > MAX_ACCEPTED:
        return (
            f"{MAX_ACCEPTED} items at most are accepted at a time: agents load no more lines of"
            " MEMORY.md"
        )
    return None


def list_rejected(rejected: str) -> tuple[str, ...]:
    return tuple(line for line in rejected.split("\n") if line.strip())


def list_superseded(superseded: str) -> dict[str, str]:
    """List what was replaced, each with the day, `YYYY-MM-DD`; empty where none is noted."""
    lines = (remove_list_mark(line) for line in superseded.split("\n") if line.startswith("- "))
    parted = (line.rpartition(_REPLACED_ON) for line in lines)
    return {old or rest: rest[: len("2026-11-24")] if old else "" for old, _, rest in parted}


_REPLACED_ON = " (replaced on "


def _reject(outcome: ReviewOutcome, chosen: Sequence[InboxItem]) -> ReviewOutcome:
    findings = tuple(item.finding for item in chosen)
    outcome = msgspec.structs.replace(outcome, rejected=(*outcome.rejected, *findings))
    return _keep_back(outcome, findings)


def _keep_back(outcome: ReviewOutcome, texts: Iterable[str]) -> ReviewOutcome:
    """Have texts not come again."""
    rejected = outcome.texts.rejected + "".join(f"{text}\n" for text in dict.fromkeys(texts))
    return msgspec.structs.replace(
        outcome, texts=msgspec.structs.replace(outcome.texts, rejected=rejected)
    )


def _accept(
    outcome: ReviewOutcome,
    decision: Decision,
    chosen: Sequence[InboxItem],
    quote: Callable[[str], str],
    day: str,
) -> ReviewOutcome:
    text = decision.text or chosen[0].finding
    alike = Likeness(text)
    line = AcceptedLine(
        text=text,
        section=chosen[0].section,
        items=tuple(chosen),
        # What is changed in a few places does not become a person's.
        is_typed=not alike.has_words_of(" ".join(item.finding for item in chosen)),
    )
    page, superseded = outcome.texts.memory, outcome.texts.superseded
    replaced: list[str] = []
    unsaid: list[str] = []
    olds = () if decision.keeps_replaced else [old for item in chosen for old in item.replaces]
    for old in dict.fromkeys(olds):
        without = remove_point(page, old, quote)
        if without is None:
            unsaid.append(old)
        else:
            page = without
            replaced.append(old)
            superseded = _add_superseded(superseded, old, text, day)
    # A person's own words may correct what is nearly the same: then both stand.
    says = alike.is_said_by if decision.text is None else alike.is_same
    is_known = any(says(point.text) for point in read_points(page))
    if not is_known:
        page = add_line(page, line.section, text)
    # Its own words would come again, as the logs have them still.
    unsaid += (item.finding for item in chosen if not Likeness(item.finding).is_said_by(text))
    outcome = msgspec.structs.replace(
        outcome,
        texts=msgspec.structs.replace(outcome.texts, memory=page, superseded=superseded),
        accepted=outcome.accepted if is_known else (*outcome.accepted, line),
        replaced=(*outcome.replaced, *replaced),
        known=(*outcome.known, text) if is_known else outcome.known,
    )
    return _keep_back(outcome, unsaid)


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
