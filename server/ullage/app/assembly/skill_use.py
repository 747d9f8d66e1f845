"""Which skills the last sessions of a workspace did without, though each request tells of them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import msgspec

from ullage.app.assembly.skill_folders import list_agent_skills, list_session_skills
from ullage.app.documents.check import Surroundings
from ullage.app.documents.kind import SKILL_NAME
from ullage.app.sessions.find import list_sessions
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.open import open_session
from ullage.core.assembly.listed_skills import ListedSkill
from ullage.core.documents.finding import DocumentFinding, TextFix
from ullage.core.gauge.breakdown import Advice
from ullage.core.gauge.window import DEFAULT_WINDOW
from ullage.core.text.positions import Positions
from ullage.core.text.prose import plural
from ullage.core.transcript.tokens import Count, estimate_tokens
from ullage.errors import InputError
from ullage.formats.agent_info import AgentInfo, SkillLoader, find_loader
from ullage.formats.registry import AGENTS
from ullage.store.files.places import Places
from ullage.store.transcript.folders import transcripts_in
from ullage.store.transcript.reader import Fingerprint, look_at

MAX_SESSIONS = 50
"""Of a workspace (docs/design/gauge.md, "What it costs")."""
MIN_SESSIONS = 10
"""Fewer do not tell what a workspace does without (chosen)."""
MAX_BYTES = 256 * 1024 * 1024
"""Of all that is searched, the newest first: 0.8 s (chosen, measured)."""
NAMED_SKILLS = 4
"""Of those that were not used, as many as are told by name (chosen)."""
_DESCRIPTION = re.compile(r"^description:.*", re.MULTILINE)
_KNOWN_TRANSCRIPTS = 1_024
"""Whose uses are remembered as long as they do not change (chosen)."""


class UnusedSkills(msgspec.Struct, frozen=True, kw_only=True):
    """Skills that a workspace's last sessions did not use, in the order of the request."""

    loader: SkillLoader
    skills: tuple[ListedSkill, ...]
    n_sessions: int


def advise_on_skills(loaded: Loaded) -> Iterator[Advice]:
    """Tell what the skills take of each request that nobody uses where a session works."""
    session = loaded.session
    agent, cwd = session.agent_info, session.header.cwd
    loader = None if agent is None else find_loader(agent.skills, session.path)
    if agent is None or loader is None or cwd is None:
        return
    skills = list_session_skills(loaded)
    unused = find_unused_skills(agent, loader, Path(cwd), skills, loaded.secrets.places)
    if unused is not None:
        yield _advise(unused, loaded.count)


def _advise(unused: UnusedSkills, count: Count) -> Advice:
    skills, loader = unused.skills, unused.loader
    names = ", ".join(skill.name for skill in skills[:NAMED_SKILLS])
    more = f" and {len(skills) - NAMED_SKILLS} more" if len(skills) > NAMED_SKILLS else ""
    told = f"{plural(len(skills), 'skill')} not used in the last {unused.n_sessions} sessions here"
    return Advice(
        text=f"{told}, {names}{more}: `{loader.off_line}` in its {loader.off_file} keeps one out",
        n_tokens=sum(count(f"{skill.text}\n") for skill in skills),
        path=skills[0].path if len(skills) == 1 else None,
    )


def check_skill(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    """Tell of a workspace's skill that an agent tells its model of, and that nobody used."""
    workspace = around.workspace_of(path)
    if workspace is None:
        return
    for agent, loader in ((info, loader) for info in AGENTS for loader in info.skills):
        if loader.off_line in text:
            continue
        skills = list_agent_skills(agent, loader, workspace, around.places, DEFAULT_WINDOW)
        own = [skill for skill in skills if Path(skill.path) == path]
        unused = find_unused_skills(agent, loader, workspace, own, around.places)
        if unused is not None:
            yield _make_finding(agent.name, unused, text)


def _make_finding(name: str, unused: UnusedSkills, text: str) -> DocumentFinding:
    positions, place = Positions(text), _DESCRIPTION.search(text)
    n_tokens = sum(estimate_tokens(skill.text) for skill in unused.skills)
    return DocumentFinding(
        code="skill-unused",
        extent=positions.extent(*(place.span() if place else (0, 0))),
        message=f"{name} did not use this skill in the last {unused.n_sessions} sessions of this"
        f" workspace: about {n_tokens:,} tokens in every request.",
        fixes=tuple(_switch_off(unused.loader, text, positions)),
    )


def _switch_off(loader: SkillLoader, text: str, positions: Positions) -> Iterator[TextFix]:
    if loader.off_file == SKILL_NAME and text.startswith("---\n"):
        second = positions.line_start(1)
        yield TextFix(
            title=f"Keep it from the model: {loader.off_line}",
            extent=positions.extent(second, second),
            new_text=f"{loader.off_line}\n",
            is_sure=False,
        )


def find_unused_skills(
    agent: AgentInfo,
    loader: SkillLoader,
    workspace: Path,
    skills: Iterable[ListedSkill],
    places: Places,
) -> UnusedSkills | None:
    """Find the skills that an agent tells of, and that none of the last sessions used.

    None where there is none, or where there are too few sessions. One that changed since the
    first of these is too new to tell.
    """
    listed = [skill for skill in skills if skill.is_listed]
    if not listed:
        return None
    used: set[str] = set()
    n_sessions, since_ns = 0, 0
    for transcripts in _list_transcripts(agent, loader, workspace, places):
        for path, fingerprint in transcripts:
            used |= _read_uses(loader.list_uses, path, fingerprint)
        n_sessions += 1
        since_ns = transcripts[0][1].mtime_ns
    unused = tuple(
        skill
        for skill in listed
        if used.isdisjoint((skill.name, Path(skill.path).parent.name))
        and _find_time(skill) < since_ns
    )
    if not unused or n_sessions < MIN_SESSIONS:
        return None
    return UnusedSkills(loader=loader, skills=unused, n_sessions=n_sessions)


def _list_transcripts(
    agent: AgentInfo, loader: SkillLoader, workspace: Path, places: Places
) -> Iterator[Sequence[tuple[Path, Fingerprint]]]:
    """Go through the last sessions of an agent, each with its subagents' transcripts."""
    sessions = (
        session
        for session in list_sessions(workspace, places)
        if session.agent_info == agent and find_loader(agent.skills, session.path) == loader
    )
    n_bytes = 0
    for session in islice(sessions, MAX_SESSIONS):
        below = (
            transcript.path
            for folder in agent.subagent_folders(session.path)
            for transcript in transcripts_in(folder)
        )
        transcripts = [(path, look_at(path)) for path in (session.path, *below)]
        n_bytes += sum(fingerprint.size_bytes for _, fingerprint in transcripts)
        if n_bytes > MAX_BYTES:
            return
        yield transcripts


@lru_cache(maxsize=_KNOWN_TRANSCRIPTS)
def _read_uses(
    list_uses: Callable[[bytes], Iterable[str]], path: Path, fingerprint: Fingerprint
) -> frozenset[str]:
    """Read which skills a transcript notes the use of; one that changed is read again."""
    del fingerprint
    try:
        lines = open_session(path).lines
        return frozenset(name for line in lines.forward() for name in list_uses(line.raw))
    except InputError:
        return frozenset()


def _find_time(skill: ListedSkill) -> int:
    try:
        return look_at(Path(skill.path)).mtime_ns
    except InputError:
        return 0
