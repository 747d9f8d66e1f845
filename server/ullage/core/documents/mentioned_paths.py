"""Files and folders of a workspace that an instruction file names, told apart from all else that
stands in code marks: commands, globs, placeholders, packages, branches, routes."""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias
from urllib.parse import unquote

import msgspec

from ullage.core.text.markdown import read_parts

MentionKind: TypeAlias = Literal["code", "link", "import"]
MAX_PATH_CHARS = 200
MAX_MENTIONS = 1000
"""More are not looked for on the disk (chosen)."""

_CODE = re.compile(r"(?<!`)`(?P<path>[^`\r\n]+)`(?!`)")
_LINK = re.compile(r"(?<!!)\[[^\]\r\n]*\]\(\s*<?(?P<path>[^)\s<>]+)>?(?:\s+\"[^\"\r\n]*\")?\s*\)")
_IMPORT = re.compile(r"(?:(?<=\s)|\A)@(?P<path>(?:~/)?[\w./-]*\w)")
"""Claude Code's `@docs/rules.md`; a package such as `@scope/name` looks alike, hence an ending."""
_LINE_SUFFIX = re.compile(r"(?::\d+(?:[-:]\d+)?|#[\w.-]*)\Z")
_NAME = re.compile(r"\.{0,2}[\w@+-][\w.@+-]*|\.{1,2}")
_ENDINGS = frozenset(
    "c cc cfg conf cpp cs css csv dart ex exs go gradle h hpp html ini java js json json5 jsonc"
    " jsonl jsx kt less lua md mdc mdx mjs cjs mts cts php pl plist proto ps1 py pyi rb rs"
    " rst scala scss sh sql svelte svg swift tf toml ts tsx txt vue xml yaml yml zig".split()
)
"""Of names that are certainly files'."""
_COMMON = frozenset(("and/or", "w/o", "n/a", "i/o", "tcp/ip", "ci/cd", "client/server", "y/n"))
PASSING_FOLDERS = frozenset(
    "node_modules dist build out target vendor coverage tmp temp logs log .git .venv venv env"
    " __pycache__ .next .cache bin obj".split()
)
"""Folders that come and go: made by a build, ignored by git. A path into them is not dead."""


_PLACEHOLDER = re.compile(
    r"(?:\A|[/._-])(?:foo|bar|baz|qux|examples?|your|my|path|to|xxx+|xyz|name|filename|slug|yyyy"
    r"|placeholder|new|some|old)(?=\Z|[/._-])",
    re.IGNORECASE,
)
"""Names that stand for others."""
_NOT_YET = re.compile(
    r"\b(?:creat(?:es?|ed|ing)|generat(?:es?|ed|ing)|writes?|written|outputs?|produces?|emits?"
    r"|sav(?:es?|ed)|e\.g\.|for example|such as|remov(?:es?|ed)|delet(?:es?|ed)|no longer"
    r"|renam(?:e|ed)|do not|don't|never|avoid|git-?ignored?|ignored|optional(?:ly)?"
    r"|if (?:any|present|exists?|it exists|available|needed)|missing|absent|copy|copies|legacy"
    r"|deprecated|formerly|instead of|upstream|local|locally|cached?|one per|per-\w+"
    r"|container|image|remote|sibling|runtime|stored|defaults? to"
    r"|other repo(?:sitory)?|separate repo(?:sitory)?)\b",
    re.IGNORECASE,
)
"""Lines with such words may speak of a file that is made later, is gone, must not be, or is
somewhere else."""


class PathMention(msgspec.Struct, frozen=True, kw_only=True):
    kind: MentionKind
    path: str
    """Relative, with slashes, as it is meant: without a line number or an anchor."""
    start: int
    end: int


def find_mentions(text: str) -> tuple[PathMention, ...]:
    """Find the relative paths that a text names; blocks of code are passed over."""
    mentions: list[PathMention] = []
    for part in read_parts(text):
        if part.kind != "code":
            mentions += _find_in_part(text, part.start, part.end)
        if len(mentions) >= MAX_MENTIONS:
            break
    return tuple(mentions[:MAX_MENTIONS])


def find_imports(text: str) -> tuple[str, ...]:
    """Find what `@docs/rules.md` outside of code may name: what is there is imported."""
    plain = "\n".join(
        text[part.start : part.end] for part in read_parts(text) if part.kind != "code"
    )
    matches = _IMPORT.finditer(_CODE.sub("", plain))
    return tuple(dict.fromkeys(match["path"] for match in matches))[:MAX_MENTIONS]


def _find_in_part(text: str, start: int, end: int) -> Iterator[PathMention]:
    kinds: tuple[tuple[MentionKind, re.Pattern[str]], ...] = (
        ("code", _CODE),
        ("link", _LINK),
        ("import", _IMPORT),
    )
    for kind, pattern in kinds:
        for match in pattern.finditer(text, start, end):
            path = _read_path(match["path"], kind)
            if path is not None and not _NOT_YET.search(
                _read_lines_around(text, match.start(), start, end)
            ):
                yield PathMention(
                    kind=kind, path=path, start=match.start("path"), end=match.end("path")
                )


def _read_lines_around(text: str, offset: int, start: int, end: int) -> str:
    """Give a line of a paragraph and those that it may be wrapped from and to, without code."""
    first = max(text.rfind("\n", start, max(text.rfind("\n", start, offset), start)), start)
    line_end = text.find("\n", offset, end)
    last = text.find("\n", line_end + 1, end) if line_end >= 0 else -1
    return _CODE.sub("", text[first : last if last >= 0 else end])


def _read_path(raw: str, kind: MentionKind) -> str | None:
    """Give the path that is meant, or None for what is most likely none."""
    text = unquote(raw) if kind == "link" else raw
    text = _LINE_SUFFIX.sub("", text.strip())
    if not text or len(text) > MAX_PATH_CHARS or text.casefold() in _COMMON:
        return None
    if _PLACEHOLDER.search(text):
        return None
    names = text.rstrip("/").split("/")
    if not all(_NAME.fullmatch(name) for name in names) or PASSING_FOLDERS.intersection(names):
        return None
    ending = names[-1].rpartition(".")[2] if "." in names[-1].lstrip(".") else ""
    is_file = ending.lower() in _ENDINGS
    if kind == "link":
        return text if is_file or "/" in text else None
    if kind == "import":
        return text if is_file else None
    # A bare `build.gradle` is often one of several that may be there, or somebody else's. And
    # without its last slash a folder, `src/api/`, may be a branch, a package or a route.
    return text if len(names) > 1 and (is_file or text.endswith("/")) else None
