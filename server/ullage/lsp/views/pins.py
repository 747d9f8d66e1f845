"""What is pinned in a session, in the view of its window: the text, and where it comes from; and
which messages can be."""

import asyncio

from ullage.app.gauge.status_text import ago, name_text
from ullage.app.sessions.load import Loaded
from ullage.app.summary.pins import PinReport, PinsReport, origin_text, report_pins
from ullage.core.config.settings import PINS, Config, effective
from ullage.core.documents.virtual_uri import write_entry_uri
from ullage.core.facts.pins import list_pinnable, list_pinnable_texts, read_pinnable_text
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import collapse_spaces, gist, plural
from ullage.core.transcript.context import HIDDEN, ContextItem
from ullage.lsp.convert import escape_markdown, session_ref
from ullage.lsp.follow import load_if_any
from ullage.lsp.protocol import PinnableResult, PinnableRow, SessionArgument, WindowRow
from ullage.lsp.state import UllageServer

LABEL_CHARS = 40
"""In a row, which also says whence and when (chosen); all of it is in the hover."""
PINNABLE_CHARS = 160
"""In a list that cuts what it has no room for, and is searched (chosen)."""


def list_pin_rows(loaded: Loaded, config: Config) -> list[WindowRow]:
    """Give the row that holds the pins; none where nothing is pinned."""
    report = report_pins(loaded.session, config.pins, loaded.secrets.places)
    in_context = {item.entry_id for item in loaded.context.items}
    # Several places may configure some, and which of them is whose is not kept.
    setting = effective(config.settings, None).get(PINS)
    places = ", ".join(each.text for each in setting.origins) if setting else ""
    rows = [_row(pin, report, places, in_context) for pin in report.pins]
    if report.problem is not None:
        rows.append(_problem_row(report.problem))
    if not rows:
        return []
    count = plural(len(report.pins), "pin")
    return [
        WindowRow(
            key="pins",
            kind="pins",
            title="Pins",
            detail=f"{len(report.pins)}",
            tooltip=f"{count}: what every summary of this session holds word for word",
            label=f"Pins, {count} that every summary holds",
            nTokens=0,
            children=rows,
        )
    ]


def _row(pin: PinReport, report: PinsReport, places: str, in_context: set[str]) -> WindowRow:
    title, origin = gist(pin.text, LABEL_CHARS), origin_text(pin, report)
    is_own = pin.source == "session"
    if places and not is_own:
        origin += f": {places}"
    entry = pin.entry_id if pin.entry_id in in_context else None
    return WindowRow(
        key=f"pin:{pin.source}:{pin.text}",
        kind="pin",
        title=title,
        detail=origin,
        tooltip=f"{escape_markdown(pin.text)}\n\n{escape_markdown(origin)}",
        label=f"Pin: {collapse_spaces(pin.text)}, {origin}",
        nTokens=0,
        uri=None if entry is None else write_entry_uri(report.path, entry),
        pin=pin.text if is_own else None,
    )


def _problem_row(problem: str) -> WindowRow:
    return WindowRow(
        key="pins:problem",
        kind="problem",
        title="Pins cannot be read",
        detail=problem,
        tooltip=escape_markdown(problem),
        label=f"Pins cannot be read: {problem}",
        nTokens=0,
    )


async def run_pinnable(ls: UllageServer, argument: SessionArgument) -> PinnableResult:
    loaded = await load_if_any(ls, argument.session)
    return PinnableResult() if loaded is None else await asyncio.to_thread(pinnable_result, loaded)


def pinnable_result(loaded: Loaded) -> PinnableResult:
    """List the messages that can be pinned.

    Takes some 1.2 s for 10,000 messages whose tokens are counted.
    """
    items = () if loaded.policy.is_read_only else list_pinnable(loaded.context.items)
    secrets = loaded.known_secrets
    rows = [_pinnable_row(item, loaded, secrets) for item in items]
    loaded.count.save()
    return PinnableResult(session=session_ref(loaded.session), title=name_text(loaded), rows=rows)


def _pinnable_row(item: ContextItem, loaded: Loaded, secrets: tuple[str, ...]) -> PinnableRow:
    n_tokens = sum(map(loaded.count, list_pinnable_texts(item)))
    written = "" if item.at_ms is None else f" · {ago(item.at_ms)}"
    text = HIDDEN if item.is_hidden else mask(read_pinnable_text(item), secrets)
    return PinnableRow(
        entry=item.entry_id,
        title=gist(text, PINNABLE_CHARS),
        detail=f"{item.category.capitalize()} · {plural(n_tokens, 'token')}{written}",
    )
