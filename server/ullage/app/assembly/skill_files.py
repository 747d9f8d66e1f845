"""Skills as files: folders with a `SKILL.md`, and commands; nothing here fails."""

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from ullage.app.documents.kind import SKILL_NAME
from ullage.core.assembly.skill_frontmatter import (
    SkillFile,
    find_first_line,
    read_lines,
    split_frontmatter,
)
from ullage.core.text.tree import MappingNode, ParseError, plain_value
from ullage.core.transcript.entries import JsonObject
from ullage.formats.agent_info import SkillFolder
from ullage.store.files.text_files import (
    MAX_TEXT_BYTES,
    exists,
    is_folder,
    is_unicode,
    list_names,
    read_text_file,
)

MAX_FOLDERS = 2_000
"""Of one place; Codex looks at as many (docs/design/assembly.md, "Skills that agents list")."""
_PASSED_OVER = frozenset({"node_modules", ".git"})


def read_skill_files(folders: Sequence[SkillFolder]) -> tuple[SkillFile, ...]:
    """Read the skills in some folders, in their order; a folder that is met twice counts once."""
    seen: set[Path] = set()
    return tuple(
        file
        for folder in folders
        for file in (_find_commands(folder) if folder.is_commands else _find_skills(folder, seen))
    )


def _find_skills(folder: SkillFolder, seen: set[Path]) -> Iterator[SkillFile]:
    """Look for skills from the top down; below one there is none."""
    queue = deque([(folder.path, 0)])
    n_folders = 0
    while queue:
        path, depth = queue.popleft()
        real = _resolve(path)
        if real is None or real in seen:
            continue
        if n_folders == MAX_FOLDERS:
            fault = f"has more than {MAX_FOLDERS:,} folders: the others were not looked at"
            yield _make(folder, folder.path, folder.path.name, fault)
            return
        n_folders += 1
        seen.add(real)
        if not exists(path / SKILL_NAME):
            children = _list_children(path, folder) if depth < folder.max_depth else ()
            queue.extend((child, depth + 1) for child in children)
            if folder.loose_files == ("below" if depth else "top"):
                yield from _read_loose(path, folder)
        elif folder.is_contained and not _is_inside(path / SKILL_NAME, folder.path):
            yield _make(folder, path / SKILL_NAME, path.name, "leads out of its folder by a link")
        else:
            yield _read(folder, path / SKILL_NAME, path.name)


def _read_loose(path: Path, folder: SkillFolder) -> Iterator[SkillFile]:
    """Read the Markdown files of a folder, each as a skill."""
    try:
        files = list(path.glob("*.md"))
    except (OSError, ValueError):
        return
    for file in files:
        if is_unicode(file.name) and not file.name.startswith(".") and not is_folder(file):
            yield _read(folder, file, path.name)


def _find_commands(folder: SkillFolder) -> Iterator[SkillFile]:
    names = list_names(folder.path, _PASSED_OVER) or ()
    for name in sorted(filter(is_unicode, names), key=str.casefold):
        if name.endswith(".md"):
            yield _read(folder, folder.path / name, name.removesuffix(".md").replace("/", ":"))


def _list_children(path: Path, folder: SkillFolder) -> list[Path]:
    try:
        children = list(path.iterdir())
    except (OSError, ValueError):
        return []
    kept = (
        child
        for child in children
        if child.name not in _PASSED_OVER
        and (folder.has_hidden or not child.name.startswith("."))
        and is_unicode(child.name)
        and is_folder(child)
    )
    return sorted(kept, key=lambda child: child.name.casefold())


def _resolve(path: Path) -> Path | None:
    try:
        return path.resolve(strict=True)
    except (OSError, ValueError, RuntimeError):  # the last for links in a circle
        return None


def _is_inside(path: Path, root: Path) -> bool:
    real, real_root = _resolve(path), _resolve(root)
    return real is not None and real_root is not None and real.is_relative_to(real_root)


def _make(folder: SkillFolder, path: Path, name: str, fault: str) -> SkillFile:
    root = str(folder.path)
    name = f"{folder.prefix}{name}"
    return SkillFile(path=str(path), root=root, scope=folder.scope, name=name, fault=fault)


def _read(folder: SkillFolder, path: Path, name: str) -> SkillFile:
    text = read_text_file(path)
    if text is None:
        fault = f"cannot be read, or is larger than {MAX_TEXT_BYTES // 1024 // 1024} MB"
        return _make(folder, path, name, fault)
    block, body = split_frontmatter(text)
    fields = _read_yaml(block)
    policy = read_text_file(path.parent / folder.policy_file) if folder.policy_file else None
    return SkillFile(
        path=str(path),
        root=str(folder.path),
        scope=folder.scope,
        name=f"{folder.prefix}{name}",
        fields=read_lines(block) if fields is None else fields,
        is_yaml=fields is not None,
        first_line=find_first_line(body),
        digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        policy=_read_yaml(policy or "") or {},
    )


def _read_yaml(text: str) -> JsonObject | None:
    """Read a mapping; None for anything else, as for YAML that is damaged or does harm."""
    # Whoever measures a session must not pay for YAML.
    from ullage.store.files.yaml_tree import parse_yaml

    try:
        node = parse_yaml(text)
    except ParseError:
        return None
    if not isinstance(node, MappingNode):
        return None
    return {member.key: plain_value(member.node) for member in node.members}
