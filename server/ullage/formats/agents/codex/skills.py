"""Codex: where its skills lie, and what its model is told of them (0.169)."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import accumulate, islice
from pathlib import Path

import msgspec

from ullage.core.assembly.listed_skills import ListedSkill, SkillRequest, leave_out
from ullage.core.assembly.skill_frontmatter import SkillFile
from ullage.core.config.agent_settings import AgentSettings
from ullage.formats.agent_info import Env, SkillFolder, SkillLoader
from ullage.formats.agents.codex.settings import HOME, TOLD_PERCENT
from ullage.formats.json_line import as_object, objects_of, text_of

MAX_DESCRIPTION_CHARS = 1_024
MAX_NAME_CHARS = 64
BUDGET_PERCENT = 2
"""Of the whole window, in tokens of four bytes, each line for itself."""
MAX_CONFIGURED_TOKENS = 10_000
"""What `skills.max_context_tokens` is at most (`ext/skills/src/render.rs`)."""
_BYTES_A_TOKEN = 4
_HEAD_BYTES = (310, 451)
"""What stands before the list and its roots, with them and without: the difference is part of the
budget (the two texts of 0.169, measured)."""
_ELLIPSIS = "..."
_MAX_DEPTH = 6
_SCOPES = ("system", "admin", "project", "user")
"""In the order of the list."""
_POLICY = "agents/openai.yaml"
_NAMED = re.compile(rb"<skill>\\n<name>([^<\\]+)</name>")
_READ = re.compile(rb"(?<![^/\\\s\"'])([^/\\\s\"']++)[/\\]+SKILL\.md")
_CALLS = (b'"function_call"', b'"custom_tool_call"', b'"local_shell_call"')


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """What can be told of a skill."""

    name: str
    path: str
    description: str
    locator: str
    cut: str
    """What is left out of the description, however much room there is."""

    def write(self, n_chars: int) -> str:
        told = f" {self.description[:n_chars]}" if n_chars else ""
        return f"- {self.name}:{told} (file: {self.locator})"

    def costs(self) -> list[int]:
        """Give the tokens of the line with its break, for each length of its description."""
        n_bytes = len(self.write(0).encode()) + 1
        sizes = accumulate((len(char.encode()) for char in self.description), initial=n_bytes + 1)
        return [_cost(n_bytes), *(_cost(size) for size in islice(sizes, 1, None))]


def _list_folders(
    upward: Sequence[Path], env: Env, home: Path, _: AgentSettings
) -> tuple[SkillFolder, ...]:
    """List the folders in the order that they are numbered in."""
    own = HOME.root(env, home)
    return (
        *(_folder(folder / ".codex" / "skills", "project") for folder in upward),
        _folder(own / "skills", "user"),
        _folder(home / ".agents" / "skills", "user"),
        _folder(own / "skills" / ".system", "system"),
        _folder(Path("/etc/codex/skills"), "admin"),
        *(_folder(folder / ".agents" / "skills", "project") for folder in reversed(upward)),
    )


def _folder(path: Path, scope: str) -> SkillFolder:
    return SkillFolder(path=path, scope=scope, max_depth=_MAX_DEPTH, policy_file=_POLICY)


def _list_skills(files: Sequence[SkillFile], request: SkillRequest) -> tuple[ListedSkill, ...]:
    """Tell all, with as much of each description as fits: each has an equal share."""
    disabled = _list_disabled(request)
    reasons = [_find_reason(file, disabled) for file in files]
    told = [file for file, reason in zip(files, reasons, strict=True) if not reason]
    aliases = {root: f"r{at}" for at, root in enumerate(dict.fromkeys(f.root for f in told))}
    told.sort(key=lambda file: (_SCOPES.index(file.scope), _name(file), file.path))
    lines = [_make_line(file, aliases[file.root]) for file in told]
    shares = _share(lines, _find_budget(request, aliases))
    return (
        *(_tell(line, n_chars) for line, n_chars in zip(lines, shares, strict=True)),
        *(
            leave_out(file, _name(file), reason)
            for file, reason in zip(files, reasons, strict=True)
            if reason
        ),
    )


def _name(file: SkillFile) -> str:
    return file.text("name") or file.name


def _find_reason(file: SkillFile, disabled: Set[str]) -> str:
    if file.fault:
        return file.fault
    if not file.text("description"):
        return "has no description"
    if len(_name(file)) > MAX_NAME_CHARS:
        return f"has a name of more than {MAX_NAME_CHARS} characters"
    if file.path in disabled:
        return "is switched off (skills.config in config.toml)"
    policy = as_object(file.policy.get("policy")) or {}
    is_users = policy.get("allow_implicit_invocation") is False
    return f"is for the user alone ({_POLICY})" if is_users else ""


def _list_disabled(request: SkillRequest) -> Set[str]:
    skills = (as_object(file.content.get("skills")) or {} for file in request.settings.sources)
    entries = (entry for own in skills for entry in objects_of(own, "config"))
    return {text_of(entry, "path") or "" for entry in entries if entry.get("enabled") is False}


def _make_line(file: SkillFile, alias: str) -> _Line:
    description, cut = file.text("description"), ""
    if len(description) > MAX_DESCRIPTION_CHARS:
        n_chars = MAX_DESCRIPTION_CHARS - len(_ELLIPSIS)
        description = description[:n_chars] + _ELLIPSIS
        cut = f"all after {n_chars:,} characters (Codex tells {MAX_DESCRIPTION_CHARS:,} of one)"
    locator = alias + file.path.removeprefix(file.root).replace("\\", "/")
    return _Line(
        name=_name(file), path=file.path, description=description, locator=locator, cut=cut
    )


def _tell(line: _Line, n_chars: int | None) -> ListedSkill:
    rule = f"Codex gives all skills {BUDGET_PERCENT} % of the window"
    if n_chars is None:
        reason = f"has no room in the list ({rule})"
        return ListedSkill(name=line.name, path=line.path, description="", text="", reason=reason)
    cut = line.cut
    if n_chars < len(line.description):
        cut = f"all after {n_chars:,} characters of its description ({rule})"
    description = line.description[:n_chars]
    return ListedSkill(
        name=line.name, path=line.path, description=description, text=line.write(n_chars), cut=cut
    )


def _find_budget(request: SkillRequest, aliases: Mapping[str, str]) -> int:
    """Give what there is for lines, in tokens: the list of roots costs too."""
    window = request.window
    whole = window.n_tokens * 100 // (TOLD_PERCENT if window.source == "agent" else 100)
    chosen = request.settings.find_number("skills", "max_context_tokens")
    n_tokens = whole * BUDGET_PERCENT // 100
    if chosen is not None and chosen.value >= 1:
        n_tokens = min(int(chosen.value), MAX_CONFIGURED_TOKENS)
    with_roots, without = _HEAD_BYTES
    roots = "".join(f"- `{alias}` = `{root}`\n" for root, alias in aliases.items())
    cost = _cost(with_roots + len(roots.encode())) - _cost(without)
    return n_tokens - max(cost, 0)


def _cost(n_bytes: int) -> int:
    return -(-n_bytes // _BYTES_A_TOKEN)


def _share(lines: Sequence[_Line], n_tokens: int) -> list[int | None]:
    """Give how many characters of each description are told; None for a skill that is not.

    A character after the other goes to each skill in turn, as long as one is affordable.
    """
    whole = [len(line.description) for line in lines]
    costs = [line.costs() for line in lines]
    if sum(own[-1] for own in costs) <= n_tokens:
        return [*whole]
    left = n_tokens - sum(own[0] for own in costs)
    if left < 0:
        return _share_names(costs, n_tokens)
    shares = [0] * len(lines)
    growing = list(range(len(lines)))
    while growing:
        grown: list[int] = []
        for at in growing:
            extra = costs[at][shares[at] + 1] - costs[at][shares[at]]
            if extra <= left:
                left -= extra
                shares[at] += 1
                grown.append(at)
        growing = [at for at in grown if shares[at] < whole[at]]
    return [*shares]


def _share_names(costs: Sequence[Sequence[int]], n_tokens: int) -> list[int | None]:
    shares: list[int | None] = []
    for own in costs:
        fits = own[0] <= n_tokens
        n_tokens -= own[0] if fits else 0
        shares.append(0 if fits else None)
    return shares


def _list_uses(line: bytes) -> Iterator[str]:
    """List what a user named in a prompt, and what the model's calls read."""
    if b"SKILL.md" in line:
        is_call = any(kind in line for kind in _CALLS)
        for use in (_READ if is_call else _NAMED).finditer(line):
            yield use[1].decode("utf-8", "replace")


SKILLS = SkillLoader(
    folder=".codex",
    list_folders=_list_folders,
    list_skills=_list_skills,
    list_uses=_list_uses,
    off_file=_POLICY,
    off_line="allow_implicit_invocation: false",
)
