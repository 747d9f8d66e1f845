"""What a `SKILL.md` says of its skill: the fields above its text, as agents read them.

YAML is read by the store; where it is none, agents take what stands behind `key:` on a line.
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from ullage.core.assembly.skills import Skill, SkillInvocation, SkillMetadata
from ullage.core.config.agent_settings import value_at
from ullage.core.text.json5 import parse_json5
from ullage.core.text.quoting import visible_line
from ullage.core.text.tree import ParseError, plain_value
from ullage.core.transcript.entries import JsonObject

_FRONTMATTER = re.compile(r"---[^\S\n]*\n(.*?)^---[^\S\n]*$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"([\w-]+):[^\S\n]+(\S.*)")
_METADATA_KEYS = ("openclaw", "clawdbot")
"""What OpenClaw is called in a skill, and what it was called before."""
_MAX_NEEDS = 100
"""Of one kind (chosen): each program is looked for in every folder of `PATH`."""
_YES = ("true", "1", "yes", "on")
_NO = ("false", "0", "no", "off")


class SkillFile(msgspec.Struct, frozen=True, kw_only=True):
    """A `SKILL.md`, or a command, as it was found."""

    path: str
    root: str
    """The folder that was searched."""
    scope: str
    """Which kind of place that is, as `project`."""
    name: str
    """Of the folder that it lies in; of a command, by its path below the root, as `group:name`."""
    fields: Mapping[str, object] = {}
    is_yaml: bool = True
    """Whether the fields are; else they are what stands behind `key:` on each line."""
    first_line: str = ""
    """Of its text, without the marks of a heading."""
    digest: str = ""
    """SHA-256, in hexadecimal."""
    policy: Mapping[str, object] = {}
    """What the file beside it says that an agent reads too."""
    fault: str = ""
    """Why nothing of it could be read; ends a sentence whose subject is the file."""

    def text(self, key: str) -> str:
        """Give a field as one line; empty where it is none, or a list."""
        value = self.fields.get(key)
        is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        # YAML's escapes can make halves of characters, which nothing could be written of.
        text = str(value).encode("utf-8", "replace").decode() if is_plain else ""
        return " ".join(text.split())

    def flag(self, key: str, *, default: bool) -> bool:
        value = str(self.fields.get(key)).lower()
        return value in _YES if value in (*_YES, *_NO) else default


def split_frontmatter(text: str) -> tuple[str, str]:
    """Give the fields of a file as YAML, and the text below them."""
    text = text.replace("\r\n", "\n")
    match = _FRONTMATTER.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def read_lines(block: str) -> JsonObject:
    """Read what stands behind `key:` on each line, where the fields are no YAML."""
    fields = (_FIELD.fullmatch(line.rstrip()) for line in block.split("\n"))
    return {field[1]: _unquote(field[2]) for field in fields if field}


def find_first_line(body: str) -> str:
    line = next((line.strip() for line in body.split("\n") if line.strip()), "")
    return line.lstrip("#").strip()


def read_skill(file: SkillFile) -> Skill | None:
    """Read a skill of OpenClaw; None where it has no description, which OpenClaw passes over."""
    description = visible_line(file.text("description"))
    if not description:
        return None
    metadata = _read_metadata(file.fields)
    return Skill(
        name=visible_line(file.text("name")) or visible_line(file.name),
        description=description,
        path=file.path,
        source=file.scope,
        digest=file.digest,
        metadata=SkillMetadata(
            skill_key=_text_at(metadata, "skillKey"),
            is_always=metadata.get("always") is True,
            platforms=_texts_at(metadata, "os"),
            binaries=_texts_at(metadata, "requires", "bins"),
            any_binaries=_texts_at(metadata, "requires", "anyBins"),
            variables=_texts_at(metadata, "requires", "env"),
            config_paths=_texts_at(metadata, "requires", "config"),
        ),
        invocation=SkillInvocation(
            is_model_invocable=not file.flag("disable-model-invocation", default=False),
        ),
        primary_env=_text_at(metadata, "primaryEnv"),
    )


def _unquote(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def _read_metadata(fields: Mapping[str, object]) -> JsonObject:
    """Give what is meant for OpenClaw: `metadata` may be YAML, or JSON5 in a text."""
    metadata = fields.get("metadata")
    if isinstance(metadata, str):
        try:
            metadata = plain_value(parse_json5(metadata))
        except ParseError:
            return {}
    if isinstance(metadata, dict):
        for key in _METADATA_KEYS:
            own = cast(JsonObject, metadata).get(key)
            if isinstance(own, dict):
                return cast(JsonObject, own)
    return {}


def _text_at(metadata: JsonObject, key: str) -> str | None:
    value = metadata.get(key)
    return value if isinstance(value, str) and value else None


def _texts_at(metadata: JsonObject, *keys: str) -> tuple[str, ...]:
    """Give a list of texts, which may be one text with commas."""
    value = value_at(metadata, keys)
    if isinstance(value, str):
        value = value.split(",")
    items: Sequence[object] = cast(list[object], value) if isinstance(value, list) else ()
    texts = (item.strip() for item in items if isinstance(item, str))
    return tuple(filter(None, texts))[:_MAX_NEEDS]
