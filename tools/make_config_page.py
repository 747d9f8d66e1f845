"""Write the keys of docs/configuration.md as the code declares them; a test compares the two."""

from collections.abc import Iterator
from pathlib import Path

from ullage.core.config.key import Key, Threshold
from ullage.core.config.settings import KEYS

FILE = Path(__file__).parent.parent / "docs/configuration.md"
KEYS_HEADING = "## Keys\n"
"""What stands before it is written by hand."""


def page() -> str:
    head, heading, _ = FILE.read_text("utf-8").partition(KEYS_HEADING)
    return "\n".join([head + heading, *(line for key in KEYS for line in _lines(key))])


def _lines(key: Key) -> Iterator[str]:
    marks = {
        "workspace": "any workspace",
        "trusted": "trusted workspaces",
        "off": "you; any workspace to `false`",
        "user": "you",
    }
    yield f"### `{key.name}`"
    yield ""
    yield key.description
    yield ""
    yield f"- Default: {_default(key)}"
    yield f"- Set by: {marks[key.scope]}{', per model' if key.is_per_model else ''}"
    yield f"- Variable: `{key.variable}`"
    if key.spellings:
        yield f"- Also: {', '.join(f'`{name}`' for name in key.spellings)}"
    yield ""


def _default(key: Key) -> str:
    if key.default is None or key.default == ():
        return "none"
    value = key.default.text if isinstance(key.default, Threshold) else key.default
    return f"`{value}`".replace("True", "true").replace("False", "false")


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
