"""What is configured, where it comes from, and what is wrong with it, as JSON."""

from typing import TypeAlias

import msgspec

from ullage.core.config.keys import KEYS, Key
from ullage.core.config.settings import Config, Setting
from ullage.core.config.tree import Code, Finding, Origin, Place
from ullage.core.config.values import Threshold, Value
from ullage.core.secrets.scan import known_secrets, mask
from ullage.store.config.files import config_paths, is_there
from ullage.store.files.places import Places

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


def report_check(config: Config, places: Places) -> CheckReport:
    secrets = known_secrets(places.env)
    return CheckReport(findings=[_report_finding(finding, secrets) for finding in config.findings])


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


def _report_finding(finding: Finding, secrets: tuple[str, ...]) -> FindingReport:
    span = finding.origin.span
    return FindingReport(
        code=finding.code,
        place=finding.origin.place,
        name=finding.origin.name,
        line=None if span is None else span.line,
        column=None if span is None else span.column,
        end_line=None if span is None else span.end_line,
        end_column=None if span is None else span.end_column,
        message=mask(finding.message, secrets),
        fix=finding.fix,
        replacement=finding.replacement,
        is_used=finding.is_used,
    )
