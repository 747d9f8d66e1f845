"""Every code of a diagnostic, once: how bad it is, what it means, and what to do.

Codes are stable: users turn them off by name (`diagnostics.off`), and docs/diagnostics.md is
written from here (tools/make_diagnostics_page.py).
"""

from typing import Literal, TypeAlias

import msgspec

from ullage.core.transcript.doctor import MEANINGS, Severity

Level: TypeAlias = Literal["error", "warning", "information", "hint"]
Subject: TypeAlias = Literal[
    "transcripts", "instructions", "skills", "tools", "memory", "checkpoints", "config", "previews"
]


class DiagnosticCode(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    subject: Subject
    level: Level
    meaning: str
    fix: str


def _code(code: str, subject: Subject, level: Level, meaning: str, fix: str) -> DiagnosticCode:
    return DiagnosticCode(code=code, subject=subject, level=level, meaning=meaning, fix=fix)


_OWN: tuple[DiagnosticCode, ...] = (
    _code(
        "context-utilization", "transcripts", "warning",
        "The context of the session is filling up. Information at the first threshold, a warning"
        " where something should be done, an error where the window is nearly full",
        "Prune or compact the session, or let it be done at the next threshold",
    ),
    _code(
        "instructions-cut", "instructions", "warning",
        "The agent does not see a part of the file: OpenClaw gives a file of more than"
        " `bootstrap.maxChars` characters (20,000) as its first 70 % and its last 20 %, and Codex"
        " stops after 32 KiB of all AGENTS.md files together. An information where nothing shows"
        " that the agent is used in this workspace",
        "Shorten the file, or move what is needed seldom to a file that it names",
    ),
    _code(
        "instructions-large", "instructions", "information",
        "Claude Code loads CLAUDE.md whole, and warns of more than 40,000 characters: they are"
        " in every request",
        "Move what is needed seldom to a file that it names, or to a skill",
    ),
    _code(
        "instructions-duplicate", "instructions", "information",
        "The same is said in a place that the same agent is given before, and is paid for twice:"
        " it is told at the later one, once for those that follow each other. A CLAUDE.md"
        " that is a copy of AGENTS.md is told too",
        "Remove one of the two, or let CLAUDE.md name the other file: `@AGENTS.md`",
    ),
    _code(
        "instructions-dead-path", "instructions", "warning",
        "The file names a file or a folder of the workspace that does not exist: an agent that"
        " follows it looks in vain. Paths that git ignores, that begin with no folder of the"
        " workspace, or of which the text says that they may be missing are left out",
        "Name the file that is meant, or remove the mention",
    ),
    _code(
        "skill-unused", "skills", "information",
        "The agent tells its model of the skill in every request, and did not use it in the last 50"
        " sessions of the workspace, which has ten or more that are newer than the skill",
        "Keep it from the model, where you call it by its name alone, or remove it; the quick fix"
        " keeps one of Claude Code",
    ),
    _code(
        "tools-large", "tools", "information",
        "The tools of an MCP server that `.mcp.json` or Codex's `config.toml` names took 1,000"
        " tokens or more of the window in the last session of the workspace: their descriptions,"
        " where the transcript holds them, and their results",
        "Turn the server off where the work does not need it; the quick fix does: in the user's own"
        " settings of Claude Code, by `enabled = false` in Codex",
    ),
    _code(
        "memory-cut", "memory", "warning",
        "The agent does not load a part of MEMORY.md: Claude Code gives its first 200 lines or"
        " 25 KB, OpenClaw its first 70 % and last 20 % where it has more than"
        " `bootstrap.maxChars` characters (20,000). An information where nothing shows that the"
        " agent is used in this workspace",
        "Keep an index here, and what it points to in files of their own; the quick fix moves it"
        " there",
    ),
    _code(
        "memory-contradiction", "memory", "information",
        "Two lines of MEMORY.md under one heading say of one thing what cannot both hold: values of"
        " one sort that differ, such as two weekdays, or one says no to what the other says. It is"
        " told once, at the later line",
        "Remove the one that holds no more; the quick fixes do",
    ),
    _code(
        "memory-outside", "memory", "information",
        "Lines of memory were written or removed, and it is not known by whom: not by Ullage, by an"
        " agent whose session it reads, or by version control. Until you accept the change, what is"
        " handed out of them is marked as of unknown origin",
        "Look at what changed, and accept it or take it back",
    ),
    _code(
        "checkpoint-schema", "checkpoints", "error",
        "The checkpoint is damaged or does not fit its schema: an earlier one is used instead",
        "Restore an earlier checkpoint, or write a new one",
    ),
    _code(
        "checkpoint-newer", "checkpoints", "warning",
        "A later version of Ullage wrote the checkpoint, and this one does not read it",
        "Update Ullage",
    ),
    _code(
        "checkpoint-id", "checkpoints", "error",
        "The id in the checkpoint is not that of its file: it is read as damaged",
        "Give the file its name back; checkpoints are never changed",
    ),
    _code(
        "checkpoint-chain", "checkpoints", "warning",
        "The checkpoint that this one follows is missing, damaged, or not older",
        "None is needed to restore this one. What it was carried over from cannot be compared",
    ),
    _code("config-unreadable", "config", "error", "The file cannot be read", "Allow it"),
    _code("config-syntax", "config", "error", "The file is not YAML or JSON5", "Correct it"),
    _code(
        "config-duplicate", "config", "warning",
        "A key stands twice, and the last one counts", "Remove one of them",
    ),
    _code(
        "config-unknown", "config", "warning", "No setting has this name",
        "Take the name that is meant, or remove the line",
    ),
    _code("config-type", "config", "error", "The value is of the wrong kind", "Write what it says"),
    _code(
        "config-range", "config", "error", "The value is beyond its limits",
        "Take one within them",
    ),
    _code(
        "config-secret", "config", "error",
        "A key of a provider stands in a file, where it leaks",
        "Remove it, revoke it, and put a new one into the environment or the keyring",
    ),
    _code(
        "config-untrusted", "config", "warning",
        "The file of a workspace may not set this key, or only where you trust the workspace",
        "Put it into your own file",
    ),
    _code(
        "config-conflict", "config", "warning",
        "Two keys contradict each other", "Change one of them",
    ),
    _code(
        "config-order", "config", "warning",
        "Thresholds are not in the order in which they must come", "Change one of them",
    ),
    _code(
        "preview-lost-pin", "previews", "error",
        "The proposed summary lacks a pin", "Insert it; the quick fix knows where",
    ),
    _code(
        "preview-lost-constraint", "previews", "warning",
        "The proposed summary lacks a rule that the user stated",
        "Insert it; the quick fix knows where",
    ),
    _code(
        "preview-lost-decision", "previews", "information",
        "The proposed summary lacks a decision", "Insert it, where it still matters",
    ),
    _code(
        "preview-lost-open-item", "previews", "information",
        "The proposed summary lacks an open item", "Insert it, where it is still open",
    ),
    _code(
        "preview-lost-identifier", "previews", "information",
        "The proposed summary lacks a name or a number", "Insert it, where it still matters",
    ),
    _code(
        "preview-lost-file", "previews", "information",
        "The proposed summary lacks a file that was worked on", "Insert it, where it still matters",
    ),
    _code(
        "preview-invented", "previews", "warning",
        "The proposed summary names something exact that stands nowhere in the messages",
        "Correct it, or keep it where you know better",
    ),
    _code(
        "preview-marker-missing", "previews", "error",
        "The line that ends the summary is missing: without it nothing is applied",
        "Put it back; the quick fix does",
    ),
    _code(
        "preview-outdated", "previews", "error",
        "The session went on since the compaction was proposed", "Regenerate the proposal",
    ),
    _code(
        "preview-replaced", "previews", "error",
        "The document holds an earlier proposal than the one that would be applied",
        "Reload the document; what you wrote is kept beside it",
    ),
)  # fmt: skip

_LEVELS: dict[Severity, Level] = {"info": "information", "warning": "warning", "error": "error"}
_STATE_CODES = frozenset(
    {"leftover-temporary", "leftover-journal", "corrupt-checkpoint", "unreadable-state"}
)
"""Of our state folder, which is no document. What is normal (`info`) is no finding in an editor."""

_DAMAGE = tuple(
    _code(
        code, "transcripts", _LEVELS[severity], meaning[0].upper() + meaning[1:],
        "`ullage doctor --repair` makes a repaired copy"
        if severity == "error"
        else "Nothing needs to be done",
    )
    for code, (severity, meaning) in MEANINGS.items()
    if code not in _STATE_CODES and severity != "info"
)  # fmt: skip

CODES: tuple[DiagnosticCode, ...] = (_OWN[0], *_DAMAGE, *_OWN[1:])
BY_CODE: dict[str, DiagnosticCode] = {row.code: row for row in CODES}
