"""What is configured, where it comes from, and what is wrong with it, as text."""

from collections.abc import Iterator
from pathlib import Path

from ullage.core.config.keys import KEYS, Key
from ullage.core.config.settings import Config, Setting
from ullage.core.config.tree import STRENGTH, Finding, Origin, shown
from ullage.core.config.values import Threshold, Value, Whole
from ullage.core.secrets.scan import known_secrets, mask
from ullage.store.config.files import config_paths, is_there
from ullage.store.files.places import Places


def config_text(config: Config, places: Places, *, shows_all: bool) -> str:
    """Write what was set, place by place, strongest last; then the defaults if wanted."""
    return "\n".join(_config_lines(config, places, shows_all=shows_all))


def check_text(config: Config, places: Places) -> str:
    if not config.findings:
        return "No findings."
    return "\n".join(finding_line(finding, places) for finding in config.findings)


def finding_line(finding: Finding, places: Places) -> str:
    """Write a finding as compilers do: `file:line:column: message (code)`."""
    where = _short(finding.origin, places)
    span = finding.origin.span
    at = "" if span is None else f":{span.line}:{span.column}"
    message = mask(finding.message, known_secrets(places.env))
    return f"{where}{at}: {message}; {finding.fix} ({finding.code})"


def _config_lines(config: Config, places: Places, *, shows_all: bool) -> Iterator[str]:
    secrets = known_secrets(places.env)
    groups: dict[str, list[str]] = {}
    for setting in sorted(config.settings, key=lambda s: STRENGTH[s.origins[-1].place]):
        *earlier, origin = setting.origins
        line = f"  {_named(setting)} = {_text(setting.key, setting.value, secrets)}"
        notes = ", ".join((*_line_text(origin), *(f"and {_short(o, places)}" for o in earlier)))
        groups.setdefault(_short(origin, places), []).append(
            f"{line}  ({notes})" if notes else line
        )
    for where, lines in groups.items():
        yield from (where, *lines, "")
    set_keys = {setting.key.name for setting in config.settings if setting.model is None}
    rest = [key for key in KEYS if key.name not in set_keys]
    if shows_all:
        yield "defaults"
        for key in rest:
            yield f"  {key.name} = {_text(key, key.default, ())}"
            yield f"      {key.meaning}"
    else:
        yield f"{len(rest)} settings have their defaults: ullage config show --all"
    yield "files, the last one wins"
    for place, path in config_paths(places, places.cwd):
        where = _short(Origin(place=place, name=str(path)), places)
        yield f"  {where}" if is_there(path) else f"  {where} (none)"
    if config.findings:
        n = len(config.findings)
        yield f"{n} {'finding' if n == 1 else 'findings'}: ullage config check"


def _line_text(origin: Origin) -> tuple[str, ...]:
    return () if origin.span is None else (f"line {origin.span.line}",)


def _short(origin: Origin, places: Places) -> str:
    """Shorten a path: inside the working folder without it, inside the home folder with ~."""
    if origin.place in ("environment", "flag", "editor", "default"):
        return origin.name
    path = Path(origin.name)
    if path.is_relative_to(places.cwd):
        return str(path.relative_to(places.cwd))
    if path.is_relative_to(places.home):
        return str(Path("~") / path.relative_to(places.home))
    return origin.name


def _named(setting: Setting) -> str:
    return shown(mask(setting.name))


def _text(key: Key, value: Value, secrets: tuple[str, ...]) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Threshold):
        return value.text
    if isinstance(value, int):
        unit = f" {key.kind.unit}" if isinstance(key.kind, Whole) else ""
        return f"{value:,}{unit}"
    if isinstance(value, float):
        return f"{value:g}"
    text = value if isinstance(value, str) else ", ".join(value) or "none"
    return shown(mask(text, secrets))
