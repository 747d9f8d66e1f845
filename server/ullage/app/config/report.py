"""What is configured, where it comes from, and what is wrong with it, as JSON and as text."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec.structs import asdict

from ullage.core.config.key import (
    PLACES,
    Code,
    Finding,
    Place,
    Setting,
    Threshold,
    Value,
    override_name,
    shorten,
)
from ullage.core.config.settings import KEYS, SPELLINGS, Config
from ullage.core.secrets.scan import list_known_secrets, mask
from ullage.core.text.prose import plural
from ullage.store.config.files import config_paths
from ullage.store.files.places import Places, is_there

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
    """Whether the value counts anyway."""


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage config check --json`."""

    findings: list[FindingReport]


def report_config(config: Config, places: Places) -> ConfigReport:
    secrets = list_known_secrets(places.env)
    set_keys = {setting.key.name for setting in config.settings if setting.model is None}
    defaults = (
        Setting(key=key, value=key.default, origins=()) for key in KEYS if key.name not in set_keys
    )
    return ConfigReport(
        workspace=str(places.cwd),
        files=[
            FileReport(place=place, path=str(path), is_there=is_there(path))
            for place, path in config_paths(places, places.cwd)
        ],
        settings=[
            *(_report_setting(setting, secrets) for setting in config.settings),
            *(_report_setting(setting, ()) for setting in defaults),
        ],
        n_findings=len(config.findings),
    )


def report_check(config: Config, places: Places) -> CheckReport:
    secrets = list_known_secrets(places.env)
    return CheckReport(findings=[_report_finding(finding, secrets) for finding in config.findings])


def config_text(config: Config, places: Places, *, shows_all: bool) -> str:
    """Write what was set, place by place, strongest last; then the defaults if wanted."""
    return "\n".join(_config_lines(report_config(config, places), places, shows_all=shows_all))


def check_text(config: Config, places: Places) -> str:
    """Write findings as compilers do, each on a line: `file:line:column: message (code)`."""
    findings = report_check(config, places).findings
    return "\n".join(_finding_line(finding, places) for finding in findings) or "No findings."


def _report_setting(setting: Setting, secrets: tuple[str, ...]) -> SettingReport:
    return SettingReport(
        key=setting.key.name,
        model=None if setting.model is None else mask(setting.model, secrets),
        value=_plain(setting.value, secrets),
        default=_plain(setting.key.default, ()),
        is_default=not setting.origins,
        origins=[msgspec.convert(asdict(origin), OriginReport) for origin in setting.origins],
        meaning=setting.key.meaning,
        variable=setting.key.variable,
    )


def _report_finding(finding: Finding, secrets: tuple[str, ...]) -> FindingReport:
    message = mask(finding.message, secrets)
    fields = {**asdict(finding.origin), **asdict(finding), "message": message}
    return msgspec.convert(fields, FindingReport)


def _plain(value: Value, secrets: tuple[str, ...]) -> PlainValue:
    if isinstance(value, Threshold):
        return value.n_tokens if value.ratio is None else value.text
    if isinstance(value, tuple):
        return [mask(text, secrets) for text in value]
    return mask(value, secrets) if isinstance(value, str) else value


def _config_lines(report: ConfigReport, places: Places, *, shows_all: bool) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    changed = [setting for setting in report.settings if not setting.is_default]
    for setting in sorted(changed, key=lambda setting: PLACES.index(setting.origins[-1].place)):
        *earlier, origin = setting.origins
        notes = [f"line {origin.line}"] if origin.line else []
        notes += [f"and {_short(place.place, place.name, places)}" for place in earlier]
        line = f"  {_setting_line(setting)}" + (f"  ({', '.join(notes)})" if notes else "")
        groups.setdefault(_short(origin.place, origin.name, places), []).append(line)
    for where, lines in groups.items():
        yield from (where, *lines, "")
    defaults = [setting for setting in report.settings if setting.is_default]
    if shows_all:
        yield "defaults"
        for setting in defaults:
            yield f"  {_setting_line(setting)}"
            yield f"      {setting.meaning}"
    else:
        yield f"{len(defaults)} settings have their defaults: ullage config show --all"
    yield "files, the last one wins"
    for file in report.files:
        yield f"  {_short(file.place, file.path, places)}{'' if file.is_there else ' (none)'}"
    if n := report.n_findings:
        yield f"{plural(n, 'finding')}: ullage config check"


def _finding_line(finding: FindingReport, places: Places) -> str:
    at = "" if finding.line is None else f":{finding.line}:{finding.column}"
    where = f"{_short(finding.place, finding.name, places)}{at}"
    return f"{where}: {finding.message}; {finding.fix} ({finding.code})"


def _setting_line(setting: SettingReport) -> str:
    name = setting.key if setting.model is None else override_name(setting.key, setting.model)
    return f"{shorten(mask(name))} = {_value_text(setting)}"


def _value_text(setting: SettingReport) -> str:
    match setting.value:
        case None | []:
            return "none"
        case bool(flag):
            return "true" if flag else "false"
        case int(number):
            return f"{number:,} {SPELLINGS[setting.key].kind.unit}"
        case float(number):
            return f"{number:g}"
        case str(text):
            return shorten(text)
        case texts:
            return shorten(", ".join(texts))


def _short(place: Place, name: str, places: Places) -> str:
    """Shorten a path: inside the working folder without it, inside the home folder with ~."""
    path = Path(name)
    if place in ("environment", "flag", "editor", "default"):
        return name
    if path.is_relative_to(places.cwd):
        return str(path.relative_to(places.cwd))
    is_at_home = path.is_relative_to(places.home)
    return str(Path("~") / path.relative_to(places.home)) if is_at_home else name
