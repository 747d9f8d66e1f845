"""How Claude Code loads its instructions and memory (2.1.330)."""

import re
from pathlib import Path

import msgspec

from ullage.core.config.agent_settings import AgentSettings
from ullage.formats.agent_info import InstructionLoader
from ullage.formats.agents.claude_code.places import HOME, folder_name
from ullage.formats.json_line import texts_of

_COMMENT = re.compile(r"^[ \t]*<!--.*?-->[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_FRONTMATTER = re.compile(r"\A---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)
_PATHS = re.compile(r"^paths:", re.MULTILINE)


def configure_loader(
    loader: InstructionLoader, settings: AgentSettings, cwd: Path
) -> InstructionLoader:
    """Apply what is excluded, whether memory is on, and what the user let a folder import."""
    approval = ("projects", str(cwd), "hasClaudeMdExternalIncludesApproved")
    excludes = (texts_of(file.content, "claudeMdExcludes") for file in settings.sources)
    return msgspec.structs.replace(
        loader,
        excludes=tuple(pattern for patterns in excludes for pattern in patterns),
        imports_outside=settings.find_flag(*approval) is True,
        has_memory=settings.find_flag("autoMemoryEnabled") is not False,
    )


def prepare_instructions(path: Path, text: str) -> str:
    """Give what is sent of a file: no block comments, no blank ends; of a rule no frontmatter.

    A rule for some paths is not sent before such a file is read.
    """
    frontmatter = _FRONTMATTER.match(text) if "rules" in path.parts else None
    if frontmatter is not None:
        if _PATHS.search(frontmatter[1]):
            return ""
        text = text[frontmatter.end() :]
    return _COMMENT.sub("", text).strip()


LOADER = InstructionLoader(
    reader="Claude Code",
    choices=(("CLAUDE.md",), (".claude/CLAUDE.md",), (".claude/rules/**",), ("CLAUDE.local.md",)),
    folder=".claude",
    home=HOME,
    home_choices=(("CLAUDE.md",), ("rules/**",)),
    reach="everywhere",
    import_hops=4,
    imports_outside=False,
    find_memory=lambda top, env, home: (
        HOME.root(env, home) / "projects" / folder_name(str(top)) / "memory/MEMORY.md"
    ),
    prepare=prepare_instructions,
    configure=configure_loader,
)
"""docs/design/agents.md, "What an agent loads"."""
