"""Review of the inbox: what a person decides of its items is planned, shown, applied, undone.

Deciding is a person's: the edges call this where they know that there is one.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from functools import partial
from pathlib import Path

import msgspec

from ullage.app.config.load import refuse_read_only, refuse_without_memory
from ullage.app.dream.material import REJECTED
from ullage.app.memory.origins import begin_memory, read_origins, record_lines
from ullage.app.sessions.secrets import secrets_in
from ullage.core.config.settings import Config
from ullage.core.dream.propose import Proposal
from ullage.core.dream.review import Decision, MemoryTexts, ReviewOutcome, review
from ullage.core.dream.score import may_apply_unread
from ullage.core.memory.inbox import InboxItem, change_texts, place_items
from ullage.core.memory.origin import (
    KnownOrigins,
    Origin,
    digest_line,
    least_trusted,
    list_line_digests,
)
from ullage.core.memory.quoted import quote_memory
from ullage.core.text.prose import plural
from ullage.errors import Refused
from ullage.store.files.places import Places
from ullage.store.memory.change_records import MemoryChange
from ullage.store.memory.changes import (
    make_memory_change,
    recover_memory_changes,
    undo_memory_change,
)
from ullage.store.memory.memory_text import MemoryText, read_memory_text
from ullage.store.memory.pages import read_page
from ullage.store.memory.places import DREAMS, MEMORY, SUPERSEDED
from ullage.store.memory.planned_files import Place, PlannedFile, find_memory_file

_FILES: tuple[tuple[Place, str], ...] = (
    ("workspace", MEMORY),
    ("workspace", SUPERSEDED),
    ("state", REJECTED),
    ("workspace", DREAMS),
)
"""What a review writes, in this order: an item leaves the inbox last."""


class WaitingItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item of the inbox, as it is listed for review."""

    id: str
    line: int
    """Of its heading in `DREAMS.md`, from 1."""
    last_line: int
    """That is not blank."""
    finding_line: int
    item: InboxItem
    origin: Origin
    """Whose words it is."""


class ReviewPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A review that is worked out to the last byte, and not made yet."""

    outcome: ReviewOutcome
    files: tuple[PlannedFile, ...]
    origins: dict[str, Origin]
    """Of all lines that are written to memory, by their digests."""

    @property
    def what(self) -> str:
        """Say in one line what is done."""
        outcome = self.outcome
        n_items, n_lines = sum(len(line.items) for line in outcome.accepted), len(outcome.accepted)
        merged = f" as {plural(n_lines, 'line')}" if n_lines < n_items else ""
        counts = (
            (n_items, "item", f"accepted into MEMORY.md{merged}"),
            (len(outcome.known), "item", "known already"),
            (len(outcome.replaced), "line", "replaced there"),
            (len(outcome.rejected), "item", "rejected"),
        )
        return ", ".join(f"{plural(n, noun)} {what}" for n, noun, what in counts if n)


def list_waiting(
    workspace: Path, places: Places, inbox: str | None = None
) -> tuple[WaitingItem, ...]:
    """List the items that wait, as `DREAMS.md` has them; `inbox` is its text where it is known.

    Raises:
        StorageError: the journal cannot be read.
    """
    text = read_page(workspace, DREAMS) or "" if inbox is None else inbox
    placed = tuple(place_items(text))
    known = read_origins(workspace, places) if placed else None
    secrets = secrets_in((workspace,), places) if placed else ()
    return tuple(
        WaitingItem(
            id=place.item.item_id,
            line=place.first_line + 1,
            last_line=place.end_line,
            finding_line=place.finding_line + 1,
            item=_show_item(place.item, origin, secrets),
            origin=origin,
        )
        for place in placed
        for origin in (_tell_origin(place.item, known),)
    )


def plan_review(
    decisions: Iterable[Decision],
    workspace: Path,
    config: Config,
    places: Places,
    *,
    today: date | None = None,
) -> ReviewPlan:
    """Plan what becomes of items.

    Raises:
        Refused: memory is switched off, the workspace is read-only, no such item waits, a secret
            would be written, or the gate of docs/design/memory.md, "Changes to memory files",
            does not open.
        LogRefused: a file of memory must not be changed.
        StorageError: the state folder cannot be read.
    """
    refuse_without_memory(config)
    refuse_read_only(config.policy)
    workspace = workspace.resolve()
    recover_memory_changes(workspace, places)
    secrets = secrets_in((workspace,), places)
    decisions = tuple(_clean_decision(decision, secrets) for decision in decisions)
    before = [_read(place, path, workspace, places) for place, path in _FILES]
    memory, superseded, rejected, inbox = (page.text for _, page in before)
    texts = MemoryTexts(memory=memory, superseded=superseded, rejected=rejected, inbox=inbox)
    outcome = review(
        texts,
        decisions,
        day=(today or date.today()).isoformat(),
        max_chars=config.bootstrap.max_chars,
        quote=partial(quote_memory, known_secrets=secrets),
    )
    if outcome.refusal is not None:
        raise Refused(outcome.refusal)
    after = outcome.texts
    files = tuple(
        PlannedFile(place=place, path=path, before=data, after=_encode(page, text, data))
        for (place, path), (data, page), text in zip(
            _FILES,
            before,
            (after.memory, after.superseded, after.rejected, after.inbox),
            strict=True,
        )
    )
    origins = _tell_written(texts, outcome, read_origins(workspace, places))
    return ReviewPlan(outcome=outcome, files=files, origins=origins)


def make_review(plan: ReviewPlan, workspace: Path, places: Places) -> MemoryChange:
    """Make a planned review as one change, which can be undone.

    Raises:
        ChangedMeanwhile: a file is not as it was when the review was planned; nothing was written.
        LogRefused, SessionLive, StorageError: nothing was written, or the message says otherwise.
    """
    workspace = workspace.resolve()
    begin_memory(workspace, places)
    record_lines(plan.origins, "", workspace, places)
    return make_memory_change(plan.files, plan.what, workspace, places)


def undo_review(workspace: Path, config: Config, places: Places) -> MemoryChange:
    """Take the newest review back that was not taken back yet.

    Raises:
        ChangedMeanwhile: a file was changed otherwise since; nothing was written.
        UnknownItem: there is nothing to take back.
        Refused, StorageError: nothing was written, or the message says otherwise.
    """
    refuse_read_only(config.policy)
    return undo_memory_change(workspace.resolve(), places)


def apply_unread(
    proposals: Sequence[Proposal],
    items: Sequence[InboxItem],
    workspace: Path,
    config: Config,
    places: Places,
    today: date,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Accept what may be unread: a person's words that were recalled; give them, and notes.

    What would replace something waits for a person in any case.
    """
    sure = {
        proposal.statement.text
        for proposal in proposals
        if proposal.statement.origin == "user"
        and not proposal.replaces
        and may_apply_unread(proposal.support, today)
    }
    decisions = [
        Decision(choice="accept", ids=(item.item_id,)) for item in items if item.finding in sure
    ]
    if not decisions:
        return (), ()
    try:
        plan = plan_review(decisions, workspace, config, places, today=today)
        make_review(plan, workspace, places)
    except Refused as error:
        return (), (f"nothing was applied unread: {error}",)
    return tuple(line.text for line in plan.outcome.accepted), ()


def _read(
    place: Place, path: str, workspace: Path, places: Places
) -> tuple[bytes | None, MemoryText]:
    page = read_memory_text(find_memory_file(place, path, workspace, places))
    return (None, MemoryText(text="")) if page is None else (page.encode(), page)


def _encode(page: MemoryText, text: str, before: bytes | None) -> bytes | None:
    if text == page.text:
        return before
    return msgspec.structs.replace(page, text=text).encode()


def _tell_written(
    before: MemoryTexts, outcome: ReviewOutcome, known: KnownOrigins
) -> dict[str, Origin]:
    """Tell where the lines that a review writes come from, those of `memory/superseded.md` too."""
    origins: dict[str, Origin] = {
        digest_line(line.text): "user"
        if line.is_typed
        else least_trusted((_tell_origin(item, known) for item in line.items), "user")
        for line in outcome.accepted
    }
    after = outcome.texts
    # What is quoted as replaced is trusted no more than it was: it would be laundered there.
    kept = set(after.memory.split("\n"))
    lost = "\n".join(line for line in before.memory.split("\n") if line not in kept)
    quoted: list[Origin] = [known.tell(MEMORY, lost)] if lost else []
    others = least_trusted([*quoted, *origins.values()], "user")
    for old, new in ((before.memory, after.memory), (before.superseded, after.superseded)):
        for line in set(new.split("\n")).difference(old.split("\n")):
            # Our headings say nothing, and must not make less of what comes below them.
            origin: Origin = "user" if line.startswith("#") else others
            for digest in list_line_digests(line):
                origins.setdefault(digest, origin)
    return origins


def _clean_decision(decision: Decision, secrets: tuple[str, ...]) -> Decision:
    """Bring a person's words onto one line of data, without secrets."""
    if decision.text is None:
        return decision
    text = " ".join(quote_memory(decision.text, secrets).split())
    if not text:
        raise Refused("there are no words to accept: write the line as it is to stand in MEMORY.md")
    return msgspec.structs.replace(decision, text=text)


def _show_item(item: InboxItem, origin: Origin, secrets: tuple[str, ...]) -> InboxItem:
    """Give an item without secrets; what one that nobody noted says of itself is no evidence."""
    if origin == "unknown":
        item = msgspec.structs.replace(item, source="", score="", reason="")
    return change_texts(item, partial(quote_memory, known_secrets=secrets))


def _tell_origin(item: InboxItem, known: KnownOrigins | None) -> Origin:
    """Tell whose an item is; one that is not as we wrote it is of others, whatever it says."""
    return "unknown" if known is None else known.lines.get(item.item_id, "unknown")
