"""Hovers: what a line costs and whether it is still in the context; what a key means."""

import asyncio
import re
from pathlib import Path

from lsprotocol import types

from ullage.app.config.report import PlainValue, SettingReport, report_config
from ullage.app.documents import outline_text
from ullage.app.documents.check import SmallFile, Surroundings
from ullage.app.documents.instruction_size import estimate_sent_tokens
from ullage.app.documents.outline import (
    OutlinedSession,
    find_answered_calls,
    find_recalled_places,
    place_compactions,
)
from ullage.app.gauge.status_text import ago
from ullage.core.config.key import Key
from ullage.core.config.read import key_at
from ullage.core.documents.instructions import cut_text_sections, estimate_text
from ullage.core.documents.outline import OutlineRow, find_row_at_line
from ullage.core.gauge.loss import measured_text, read_noted_loss
from ullage.core.secrets.scan import list_known_secrets, mask
from ullage.core.text.positions import Position, Positions
from ullage.core.text.prose import gist, plural
from ullage.core.transcript.context import Compaction
from ullage.errors import CorruptCheckpoint, NewerCheckpoint
from ullage.lsp.convert import escape_markdown, hover_of, range_of
from ullage.lsp.documents.by_kind import answer_by_kind, of_text
from ullage.lsp.documents.inbox import inbox_hover
from ullage.lsp.documents.memory import hover_cited, line_hover, place_hover, show_cited
from ullage.lsp.documents.outline import read_outline
from ullage.lsp.state import UllageServer
from ullage.store.checkpoint.files import read_checkpoint
from ullage.store.config.files import guess_place, parse_config

SETTERS = {
    "workspace": "any workspace",
    "trusted": "trusted workspaces",
    "off": "you; any workspace to false",
    "user": "you, and no workspace",
}
MAX_TOPIC_CHARS = 200
_CHECKPOINT_ID = re.compile(r"\bcp_\d{3,9}\b")


async def transcript_hover(
    ls: UllageServer, path: Path, params: types.HoverParams
) -> types.Hover | None:
    outlined = await read_outline(ls, path)
    row = None if outlined is None else find_row_at_line(outlined.outline, params.position.line)
    if outlined is None or row is None:
        return None
    around = ls.surroundings()
    return await asyncio.to_thread(
        lambda: _recalled_hover(outlined, row, params, around) or _entry_hover(outlined, row)
    )


def _recalled_hover(
    outlined: OutlinedSession, row: OutlineRow, params: types.HoverParams, around: Surroundings
) -> types.Hover | None:
    """Show the lines of memory that the place under the pointer names."""
    cwd = outlined.loaded.session.header.cwd
    for cited in find_recalled_places(outlined, row) if cwd is not None else ():
        if cited.start <= params.position.character <= cited.end:
            start, end = (types.Position(row.line, at) for at in (cited.start, cited.end))
            return show_cited(cited, Path(cwd or ""), around, types.Range(start, end))
    return None


def _entry_hover(outlined: OutlinedSession, row: OutlineRow) -> types.Hover:
    when = "" if row.at_ms is None else f" · {ago(row.at_ms)}"
    parts = [f"**{outline_text.KIND_NAMES[row.kind]}**{when}"]
    if row.title:
        parts.append(escape_markdown(row.title))
    parts += [escape_markdown(call) for call in row.calls or find_answered_calls(outlined, row)]
    if row.kind == "compaction":
        for placed in place_compactions(outlined):
            if placed.row is row:
                parts += _compaction_parts(outlined, placed.compaction)
    lines = (
        outline_text.tokens_text(outlined, row),
        outline_text.total_text(outlined, row),
        outline_text.presence_text(outlined, row),
    )
    parts.append("  \n".join(line for line in lines if line))
    return hover_of(parts)


def _compaction_parts(outlined: OutlinedSession, compaction: Compaction) -> list[str]:
    loss = read_noted_loss(compaction.details)
    lines = outline_text.summary_lines(outlined, compaction)
    return [
        outline_text.change_text(compaction),
        *([] if loss is None else [f"Measured: {escape_markdown(measured_text(loss))}"]),
        *(["\n".join(f"> {escape_markdown(line)}  " for line in lines)] if lines else []),
    ]


def config_hover(file: SmallFile, params: types.HoverParams) -> types.Hover | None:
    """Tell what a key means, its default, and what holds and why."""
    content = file.text.encode("utf-8", "replace")
    source = parse_config(guess_place(file.path), str(file.path), content)
    positions = Positions(file.text)
    here = key_at(source, _offset(positions, params))
    if here is None:
        return None
    key, member = here
    reports = report_config(file.around.config, file.around.places).settings
    of_key = [report for report in reports if report.key == key.name]
    general = [report for report in of_key if report.model is None]
    extent = positions.extent(member.start, member.end)
    return hover_of(_key_parts(key, (general or of_key)[0]), range_of(extent))


def _key_parts(key: Key, report: SettingReport) -> list[str]:
    origins = ", ".join(
        origin.name if origin.line is None else f"{origin.name}:{origin.line}"
        for origin in report.origins
    )
    value = f"{_value(report.value)}, from {escape_markdown(origins)}"
    return [
        f"**{escape_markdown(key.name)}**",
        escape_markdown(key.description),
        f"Default: {_value(report.default)}"
        f"  \nNow: {'the default' if report.is_default else value}",
        f"Set by {SETTERS[key.scope]}{', per model' if key.is_per_model else ''}"
        f" · variable `{key.variable}`",
    ]


def _value(value: PlainValue) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape_markdown(", ".join(value) if isinstance(value, list) else f"{value}")


def checkpoint_hover(file: SmallFile, params: types.HoverParams) -> types.Hover | None:
    """Describe the checkpoint under the pointer: when, why, how full, and about what."""
    positions = Positions(file.text)
    line_start = positions.line_start(params.position.line)
    offset = _offset(positions, params) - line_start
    for match in _CHECKPOINT_ID.finditer(positions.line_text(params.position.line)):
        if match.start() <= offset <= match.end():
            extent = positions.extent(line_start + match.start(), line_start + match.end())
            return hover_of(_checkpoint_parts(file, match[0]), range_of(extent))
    return None


def _checkpoint_parts(file: SmallFile, checkpoint_id: str) -> list[str]:
    try:
        checkpoint = read_checkpoint(file.path.with_name(f"{checkpoint_id}.yaml"))
    except FileNotFoundError:
        return [f"**{escape_markdown(checkpoint_id)}** is not there any more."]
    except (CorruptCheckpoint, NewerCheckpoint) as error:
        return [escape_markdown(f"{error}")]
    meta, use = checkpoint.meta, checkpoint.meta.token_usage
    head = (meta.checkpoint_id, meta.created_at, meta.trigger)
    name, written, trigger = (escape_markdown(text) for text in head)
    secrets = list_known_secrets(file.around.places.env)
    topic = gist(mask(checkpoint.working.topic, secrets), MAX_TOPIC_CHARS)
    parts = [
        f"**{name}** · {written} · {trigger}",
        f"{use.input_tokens:,} of {use.context_window:,} tokens ·"
        f" {plural(meta.compaction_count, 'compaction')} ·"
        f" {plural(len(checkpoint.decisions), 'decision')} ·"
        f" {plural(len(checkpoint.open_items), 'open item')}",
    ]
    return [*parts, escape_markdown(topic)] if topic else parts


def section_hover(file: SmallFile, params: types.HoverParams) -> types.Hover | None:
    """Tell what the section under a heading costs in every request."""
    positions = Positions(file.text)
    offset = _offset(positions, params)
    sections = cut_text_sections(file.text)
    pointed = (section for section in sections if section.start <= offset <= section.heading_end)
    section = next(pointed, None)
    if section is None:
        return None
    n_all = max(estimate_text(file.text), 1)
    share = min(section.n_tokens / n_all, 1.0)
    text = (
        f"About {section.n_tokens:,} tokens with all below it: {share:.0%} of this file,"
        f" which has about {n_all:,}."
    )
    least, most = estimate_sent_tokens(file.path, file.text, file.around)
    if least < n_all:
        some = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        text += f" Only {some} of them are in a request: the rest is cut off."
    return hover_of([text], range_of(positions.extent(section.start, section.heading_end)))


def _offset(positions: Positions, params: types.HoverParams) -> int:
    return positions.offset(Position(params.position.line, params.position.character))


def memory_hover(file: SmallFile, params: types.HoverParams) -> types.Hover | None:
    return place_hover(file, params) or section_hover(file, params) or line_hover(file, params)


def instructions_hover(file: SmallFile, params: types.HoverParams) -> types.Hover | None:
    return place_hover(file, params) or section_hover(file, params)


async def answer_hover(ls: UllageServer, params: types.HoverParams) -> types.Hover | None:
    shown = ls.documents.shown.get(params.text_document.uri)
    if shown is None:
        return await _answer_by_kind(ls, params)
    around = ls.surroundings()
    return await asyncio.to_thread(
        hover_cited, shown.cited, shown.workspace, around, params.position
    )


_answer_by_kind = answer_by_kind(
    {
        "transcript": transcript_hover,
        "config": of_text(config_hover, None),
        "checkpoint": of_text(checkpoint_hover, None),
        "instructions": of_text(instructions_hover, None),
        "memory": of_text(memory_hover, None),
        "inbox": of_text(inbox_hover, None),
    },
    None,
)
