"""An assembled request on a terminal: each part, what it costs, what is cut and why."""

from collections.abc import Iterable, Iterator

from ullage.app.assembly.assemble import AssembledRequest
from ullage.app.gauge.status_text import RULE
from ullage.core.text.prose import gist
from ullage.core.text.quoting import visible_line
from ullage.core.text.short_paths import cut_left

NAME_CHARS = 48
"""So that a row fits into 80 columns."""
_SKILL_CHARS = 24
_SKILL_COLUMN = _SKILL_CHARS + 2
_MAX_LEFT_OUT = 20
"""More fill a screen (chosen)."""


def assembled_text(assembled: AssembledRequest) -> str:
    """Write sections, files and skills with their sources, then the budget and the warnings."""
    title = f"Request ({assembled.mode}) as `ullage agent` gives it to a runtime"
    blocks = (
        (title, _list_sections(assembled)),
        ("Files of the workspace", _list_files(assembled)),
        ("Skills that the prompt names", _list_skills(assembled)),
        ("Skills that are left out", _list_left_out(assembled)),
        (f"Budget of {assembled.budget.context_window:,} tokens", _list_budget(assembled)),
        ("Warnings", _list_warnings(assembled)),
    )
    texts = (_write_block(title, rows) for title, rows in blocks)
    return "\n\n".join(text for text in texts if text)


def _write_block(title: str, rows: Iterable[str]) -> str:
    lines = list(rows)
    return "\n".join((title, RULE, *lines)) if lines else ""


def _list_sections(assembled: AssembledRequest) -> Iterator[str]:
    yield f"Folder:   {cut_left(assembled.workspace, 70)}"
    yield f"Session:  {cut_left(assembled.session, 70) or 'none, a new one'}"
    yield "Agents such as Claude Code build their own: `ullage context inspect` shows these"
    yield f"{'':<{NAME_CHARS}}{'characters':>14}{'tokens':>12}"
    for section in assembled.sections:
        yield _row(section.name, section.n_tokens, len(section.text))
    if assembled.messages:
        n_messages = len(assembled.messages)
        tokens = assembled.budget.history + assembled.budget.event
        yield _row(f"{n_messages:,} message{'' if n_messages == 1 else 's'}", tokens)


def _list_files(assembled: AssembledRequest) -> Iterator[str]:
    for file in assembled.files:
        yield _row(file.path, file.n_tokens, file.n_chars)
        if file.cut:
            yield f"  {file.cut}"


def _list_skills(assembled: AssembledRequest) -> Iterator[str]:
    for skill in assembled.skills.resolved_skills:
        name = cut_left(skill.name, _SKILL_CHARS)
        yield f"{name:<{_SKILL_COLUMN}}{cut_left(skill.path, NAME_CHARS)}"


def _list_left_out(assembled: AssembledRequest) -> Iterator[str]:
    for skill in assembled.left_out_skills[:_MAX_LEFT_OUT]:
        reason = gist(visible_line("; ".join(skill.reasons)), 80 - _SKILL_COLUMN)
        yield f"{cut_left(skill.name, _SKILL_CHARS):<{_SKILL_COLUMN}}{reason}"
    if len(assembled.left_out_skills) > _MAX_LEFT_OUT:
        yield f"and {len(assembled.left_out_skills) - _MAX_LEFT_OUT:,} more, which --json names"


def _list_budget(assembled: AssembledRequest) -> Iterator[str]:
    budget = assembled.budget
    yield _row("kept for the answer", budget.reserve_response)
    yield _row("kept for calls of tools", budget.reserve_tools)
    yield _row("available", budget.available)
    parts = (
        ("system prompt", budget.system_prompt),
        ("bootstrap files", budget.bootstrap),
        ("skills", budget.skills),
        ("tools", budget.tools),
        ("memory", budget.memory),
        ("history", budget.history),
        ("event", budget.event),
    )
    yield from (_row(f"  {name}", n_tokens) for name, n_tokens in parts)
    if budget.over:
        yield _row("too many", budget.over)
    else:
        yield _row("free", budget.available - budget.used)


def _list_warnings(assembled: AssembledRequest) -> Iterator[str]:
    """List what is not told beside its file already."""
    told = {f"{file.path}: {file.cut}" for file in assembled.files}
    yield from (f"- {warning}" for warning in assembled.warnings if warning not in told)


def _row(name: str, n_tokens: int, n_chars: int | None = None) -> str:
    chars = "" if n_chars is None else f"{n_chars:,}"
    return f"{cut_left(name, NAME_CHARS):<{NAME_CHARS}}{chars:>14}{n_tokens:>12,}"
