"""Write docs/configuration.md: every key as the code declares it; a test compares the two."""

from collections.abc import Iterator
from pathlib import Path

from ullage.core.config.keys import KEYS, Key
from ullage.core.config.values import Threshold

FILE = Path(__file__).parent.parent / "docs/configuration.md"
HEAD = """\
# Configuration

Everything has a default; a configuration says only what shall be different. Later places win:

1. the defaults below,
2. OpenClaw's own file, `~/.openclaw/openclaw.json` or `clawdbot.json` (JSON5),
3. your file, `~/.openclaw/config.yaml`,
4. the workspace's file, `.ullage.yaml` in the folder that is worked in,
5. the editor's settings,
6. environment variables,
7. flags of a command, such as `--window`.

Lists (`pins`, `compaction.prune.protectedTools`, `bootstrap.files`, `diagnostics.off`) add up
instead: no place takes away what another has put in. A wrong value does not count, and the place before decides; no
configuration stops a command. `ullage config show` says what counts and where it comes from,
`ullage config check` what is wrong.

```yaml
# ~/.openclaw/config.yaml
compaction:
  layers:
    summarize:
      trigger: 85
  modelOverrides:
    gpt-4.1:
      contextWindow: 1000000
      layers:
        summarize: { trigger: 800000 }
pins:
  - Never touch the production database.
```

**Thresholds** are percent of the window up to 100 (`85`, `"85%"`), or tokens from 1,000 on
(`170000`). What lies between is refused, and so is `0.85`, which could mean either.

**Models.** Below `compaction.modelOverrides` stands the beginning of a model's name, with its
provider (`openai/gpt-4.1`) or without, and below that keys of `compaction` without that word. The
longest name that fits counts. The keys marked *per model* below can be set so.

**Spellings.** `agents.defaults.compaction` means `compaction`. Nested keys may be written with dots.

**A workspace** that you have not trusted sets only what is marked *any* below: thresholds and amounts,
pins, protected tools and diagnostics. In an editor you trust it as usual; for the command line, name the folder (or one
above it) in `ULLAGE_TRUST_WORKSPACE`. What is marked *you* no workspace ever sets, as it says
where text is sent. Where an editor has several folders open, the file of the first counts, and
`sandbox.readOnly` where any of them that you trust says so.

**Keys of providers** are never configuration: they come from the environment or the keyring. A file
that holds one is reported, and what it holds is not shown.

**YAML** is read as plain keys and values: anchors, aliases and tags are refused.

## Keys
"""


def page() -> str:
    return "\n".join([HEAD, *(line for key in KEYS for line in _lines(key))])


def _lines(key: Key) -> Iterator[str]:
    marks = {"workspace": "any workspace", "trusted": "trusted workspaces", "user": "you"}
    yield f"### `{key.name}`"
    yield ""
    yield f"{key.meaning}. Must be {key.kind.wanted}."
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
