"""What is configured, where it comes from, and what is wrong with it: as text and as JSON."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.core.config.keys import KEYS, Key
from ullage.core.config.settings import Config, Setting
from ullage.core.config.tree import Code, Finding, Origin, Place, shown
from ullage.core.config.values import Threshold, Value, Whole
from ullage.core.secrets import known_secrets, mask
from ullage.store.config_files import config_paths, is_there
from ullage.store.places import Places

PlainValue: TypeAlias = bool | int | float | str | list[str] | None
"""A value as it may be written into a file: a threshold in percent is a text such as `88%`."""


class OriginReport(msgspec.Struct, frozen=True, kw_only=True):
    place: Place
    name: str
    """The file's path, the variable, the flag, or `editor settings`."""
    line: int | None
    """From 1, as the column; null where there is no text."""
    column: int | None


class SettingReport(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    model: str | None
    """The models that it is for, by the beginning of their name; null for all others."""
    value: PlainValue
    default: PlainValue
    is_default: bool
    """Whether nothing sets it."""
    origins: list[OriginReport]
    """Where the value stands; several for a list that places add to."""
    meaning: str
    variable: str
    """The environment variable that sets it."""


class FileReport(msgspec.Struct, frozen=True, kw_only=True):
    place: Place
    path: str
    is_there: bool


class ConfigReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage config show --json`."""

    workspace: str
    files: list[FileReport]
    """Weakest first."""
    settings: list[SettingReport]
    n_findings: int


class FindingReport(msgspec.Struct, frozen=True, kw_only=True):
    code: Code
    place: Place
    name: str
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    message: str
    fix: str
    replacement: str | None
    """What to put there instead, where it is known."""
    is_used: bool
    """Whether the value counts all the same."""


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage config check --json`."""

    findings: list[FindingReport]


def report_config(config: Config, places: Places) -> ConfigReport:
    secrets = known_secrets(places.env)
    set_keys = {setting.key.name for setting in config.settings if setting.model is None}
    rest = (_default(key) for key in KEYS if key.name not in set_keys)
    return ConfigReport(
        workspace=str(places.cwd),
        files=[
            FileReport(place=place, path=str(path), is_there=is_there(path))
            for place, path in config_paths(places, places.cwd)
        ],
        settings=[*(_report_setting(setting, secrets) for setting in config.settings), *rest],
        n_findings=len(config.findings),
    )


def report_check(config: Config) -> CheckReport:
    return CheckReport(findings=[_report_finding(finding) for finding in config.findings])


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
    return f"{where}{at}: {finding.message}; {finding.fix} ({finding.code})"


def _config_lines(config: Config, places: Places, *, shows_all: bool) -> Iterator[str]:
    secrets = known_secrets(places.env)
    groups: dict[str, list[str]] = {}
    for setting in config.settings:
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
    return mask(shown(setting.name))


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


def _plain(value: Value, secrets: tuple[str, ...]) -> PlainValue:
    if isinstance(value, Threshold):
        return value.n_tokens if value.ratio is None else value.text
    if isinstance(value, tuple):
        return [mask(text, secrets) for text in value]
    return mask(value, secrets) if isinstance(value, str) else value


def _default(key: Key) -> SettingReport:
    value = _plain(key.default, ())
    return SettingReport(
        key=key.name,
        model=None,
        value=value,
        default=value,
        is_default=True,
        origins=[],
        meaning=key.meaning,
        variable=key.variable,
    )


def _report_setting(setting: Setting, secrets: tuple[str, ...]) -> SettingReport:
    return SettingReport(
        key=setting.key.name,
        model=None if setting.model is None else mask(setting.model, secrets),
        value=_plain(setting.value, secrets),
        default=_plain(setting.key.default, ()),
        is_default=False,
        origins=[_report_origin(origin) for origin in setting.origins],
        meaning=setting.key.meaning,
        variable=setting.key.variable,
    )


def _report_origin(origin: Origin) -> OriginReport:
    span = origin.span
    return OriginReport(
        place=origin.place,
        name=origin.name,
        line=None if span is None else span.line,
        column=None if span is None else span.column,
    )


def _report_finding(finding: Finding) -> FindingReport:
    span = finding.origin.span
    return FindingReport(
        code=finding.code,
        place=finding.origin.place,
        name=finding.origin.name,
        line=None if span is None else span.line,
        column=None if span is None else span.column,
        end_line=None if span is None else span.end_line,
        end_column=None if span is None else span.end_column,
        message=finding.message,
        fix=finding.fix,
        replacement=finding.replacement,
        is_used=finding.is_used,
    )
