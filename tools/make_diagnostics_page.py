"""Write docs/diagnostics.md and its copy in the package: every code as the code declares it."""

from collections.abc import Iterator
from pathlib import Path

from ullage.core.documents.diagnostic_codes import CODES, DiagnosticCode, Subject

ROOT = Path(__file__).parent.parent
FILES = (ROOT / "docs/diagnostics.md", ROOT / "server/ullage/data/diagnostics.md")
"""An editor's link on a code leads to the second, which is always at hand."""
HEAD = """\
# Diagnostics

What Ullage reports on files that are open in an editor. Codes stay the same from version to
version. To turn some off, name them in a configuration file, the workspace's included:

```yaml
# .ullage.yaml
diagnostics:
  off: [instructions-dead-path]
```

Findings on instruction files, skills, MCP servers, memory, checkpoints and configuration follow what
you type, where the editor sends it, else what you save. Those on a transcript follow the file. Nothing
is reported on a file above 2 MB but its use of the context.
"""
SUBJECTS: dict[Subject, str] = {
    "transcripts": "Transcripts",
    "instructions": "Instruction files",
    "skills": "Skills",
    "tools": "MCP servers",
    "memory": "Memory",
    "checkpoints": "Checkpoints",
    "config": "Configuration",
    "previews": "Compaction previews",
}


def page() -> str:
    return "\n".join([HEAD, *_lines()])


def _lines() -> Iterator[str]:
    for subject, title in SUBJECTS.items():
        yield f"## {title}"
        yield ""
        for one in CODES:
            if one.subject == subject:
                yield from _section(one)


def _section(one: DiagnosticCode) -> Iterator[str]:
    yield f"### {one.code}"
    yield ""
    yield f"{one.meaning}."
    yield ""
    yield f"- Severity: {one.level}"
    yield f"- What to do: {one.fix}."
    yield ""


if __name__ == "__main__":
    for file in FILES:
        file.write_text(page(), encoding="utf-8")
