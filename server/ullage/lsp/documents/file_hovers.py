"""Hovers on small documents: keys of a configuration, checkpoints, sections of instructions."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.config.report import PlainValue, SettingReport, report_config
from ullage.app.documents.check import Surroundings
from ullage.app.documents.instruction_size import sent_tokens
from ullage.core.config.key import Key
from ullage.core.config.read import key_at
from ullage.core.documents.text_sections import cut_text_sections, estimate_text
from ullage.core.secrets.scan import list_known_secrets, mask
from ullage.core.text.positions import Position, Positions
from ullage.errors import CorruptCheckpoint, NewerCheckpoint
from ullage.lsp.documents.finding import range_of
from ullage.lsp.markdown import escaped
from ullage.store.checkpoint.files import read_checkpoint
from ullage.store.config.files import guess_place, parse_config

FileHover: TypeAlias = Callable[[Path, types.Position, Surroundings], types.Hover | None]

SETTERS = {
    "workspace": "any workspace",
    "trusted": "trusted workspaces",
    "user": "you, and no workspace",
}
MAX_TOPIC_CHARS = 200
_CHECKPOINT_ID = re.compile(r"\bcp_\d{3,9}\b")


def config_hover(path: Path, at: types.Position, around: Surroundings) -> types.Hover | None:
    """Tell what a key means, its default, and what holds and why."""
    text = around.text_of(path)
    if text is None:
        return None
    source = parse_config(guess_place(path), str(path), text.encode("utf-8", "replace"))
    positions = Positions(text)
    here = key_at(source, positions.offset(Position(at.line, at.character)))
    if here is None:
        return None
    key, member = here
    reports = report_config(around.config, around.places).settings
    mine = [report for report in reports if report.key == key.name]
    general = [report for report in mine if report.model is None]
    extent = positions.extent(member.start, member.end)
    return _hover(_key_text(key, general[0] if general else mine[0]), range_of(extent))


def _key_text(key: Key, report: SettingReport) -> str:
    origins = ", ".join(
        origin.name if origin.line is None else f"{origin.name}:{origin.line}"
        for origin in report.origins
    )
    now = "the default" if report.is_default else f"{_value(report.value)}, from {escaped(origins)}"
    rows = [
        f"**{escaped(key.name)}**",
        f"{escaped(key.meaning)}. Must be {escaped(key.kind.wanted)}.",
        f"Default: {_value(report.default)}  \nNow: {now}",
        f"Set by {SETTERS[key.scope]}{', per model' if key.is_per_model else ''}"
        f" · variable `{key.variable}`",
    ]
    return "\n\n".join(rows)


def _value(value: PlainValue) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return escaped(", ".join(value) if isinstance(value, list) else f"{value}")


def checkpoint_hover(path: Path, at: types.Position, around: Surroundings) -> types.Hover | None:
    """Tell of the checkpoint whose id is pointed at: when, why, how full, and about what."""
    text = around.text_of(path)
    if text is None:
        return None
    positions = Positions(text)
    line_start = positions.line_start(at.line)
    offset = positions.offset(Position(at.line, at.character)) - line_start
    line = positions.line_text(at.line)
    ids = (one for one in _CHECKPOINT_ID.finditer(line) if one.start() <= offset <= one.end())
    found = next(ids, None)
    if found is None:
        return None
    extent = positions.extent(line_start + found.start(), line_start + found.end())
    told = _checkpoint_text(
        path.with_name(f"{found[0]}.yaml"), list_known_secrets(around.places.env)
    )
    return _hover(told, range_of(extent))


def _checkpoint_text(path: Path, secrets: tuple[str, ...]) -> str:
    try:
        checkpoint = read_checkpoint(path)
    except FileNotFoundError:
        return f"**{escaped(path.stem)}** is not there any more."
    except (CorruptCheckpoint, NewerCheckpoint) as error:
        return escaped(f"{error}")
    meta, use = checkpoint.meta, checkpoint.meta.token_usage
    topic = mask(checkpoint.working.topic, secrets)[:MAX_TOPIC_CHARS]
    rows = [
        f"**{escaped(meta.checkpoint_id)}** · {escaped(meta.created_at)} · {escaped(meta.trigger)}",
        f"{use.input_tokens:,} of {use.context_window:,} tokens ·"
        f" {meta.compaction_count} compactions · {len(checkpoint.decisions)} decisions ·"
        f" {len(checkpoint.open_items)} open items",
    ]
    return "\n\n".join([*rows, escaped(topic)] if topic else rows)


def section_hover(path: Path, at: types.Position, around: Surroundings) -> types.Hover | None:
    """Tell what the section under a heading costs in every request."""
    text = around.text_of(path)
    if text is None:
        return None
    positions = Positions(text)
    offset = positions.offset(Position(at.line, at.character))
    sections = (one for one in cut_text_sections(text) if one.start <= offset <= one.heading_end)
    section = next(sections, None)
    if section is None:
        return None
    n_all = max(estimate_text(text), 1)
    share = min(section.n_tokens / n_all, 1.0)
    told = (
        f"About {section.n_tokens:,} tokens with all below it: {share:.0%} of this file,"
        f" which has about {n_all:,}."
    )
    least, most = sent_tokens(path, text, around)
    if least < n_all:
        some = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        told += f" Only {some} of them are in a request: the rest is cut off."
    return _hover(told, range_of(positions.extent(section.start, section.heading_end)))


def _hover(markdown: str, where: types.Range) -> types.Hover:
    content = types.MarkupContent(kind=types.MarkupKind.Markdown, value=markdown)
    return types.Hover(contents=content, range=where)
