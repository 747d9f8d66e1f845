"""Put the configuration of a workspace together from all that has a say in it.

Most users have none: what reads one is imported where there is something to read.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from ullage.core.config.key import PREFIX, Finding, Setting, Source
from ullage.core.config.settings import (
    Config,
    Policy,
    config_of,
    effective,
    merge_settings,
    strictest,
)
from ullage.errors import Refused, Unreadable, WriteNotSupported
from ullage.store.config.files import config_paths, guess_place, read_config_file
from ullage.store.files.places import Places

TRUST_VARIABLE = "ULLAGE_TRUST_WORKSPACE"
"""Folders whose workspaces are trusted, parted as in PATH; an editor knows by itself."""
EDITOR_NAME = "editor settings"

Flags: TypeAlias = Mapping[str, tuple[str, object]]
"""By a flag as a user types it (`--window`): the name of its key, and its value."""


def load_config(
    places: Places,
    *,
    workspace: Path | None = None,
    editor: Sequence[object] = (),
    flags: Flags | None = None,
    is_trusted: bool = False,
) -> Config:
    """Load what is configured, later places winning: defaults, OpenClaw's file, the user's file,
    the workspace's file, the editor, the environment, flags.

    Never fails: what is wrong is among the findings, and does not count.

    Args:
        workspace: the folder that is worked in; None reads no file of a workspace.
        editor: the editor's settings as JSON gives them, later ones winning: from the user's
            own, and from the workspace's only where the editor trusts it.
        is_trusted: whether the editor says that the workspace is trusted.
    """
    files = (read_config_file(place, path) for place, path in config_paths(places, workspace))
    sources = [source for source in files if source is not None]
    has_variables = any(name.startswith(PREFIX) for name in places.env)
    if not (sources or has_variables or flags or any(editor)):
        return Config()

    from ullage.core.config.read import plain_node, read_environment, read_flags, read_source

    is_trusted = is_trusted or (workspace is not None and is_trusted_folder(workspace, places))
    sources += [Source(place="editor", name=EDITOR_NAME, root=plain_node(each)) for each in editor]
    return _merge(
        *(read_source(source, is_trusted=is_trusted) for source in sources),
        read_environment(places.env),
        read_flags(flags or {}),
    )


def load_workspace_config(
    places: Places, folders: Sequence[Path], *, editor: Sequence[object], is_trusted: bool
) -> Config:
    """Load what is configured where several folders are open.

    The file of the first counts; where any of them is to be read only, nothing is written.
    """
    return strictest(
        [
            load_config(places, workspace=folder, editor=editor, is_trusted=is_trusted)
            for folder in folders or (None,)
        ]
    )


def check_file(path: Path) -> Config:
    """Read one file by itself.

    Raises:
        Unreadable: there is no such file.
    """
    source = read_config_file(guess_place(path), path)
    if source is None:
        raise Unreadable(f"{path} does not exist: name a configuration file")
    return check_source(source)


def check_source(source: Source) -> Config:
    """Check what one file says, or the text of one in an editor (`parse_config`), by itself.

    A workspace's file is taken as the one of a trusted workspace.
    """
    from ullage.core.config.read import read_source

    return _merge(read_source(source, is_trusted=True))


def is_trusted_folder(workspace: Path, places: Places) -> bool:
    """Tell whether the user's environment trusts a folder or one above it."""
    names = [name for name in places.env.get(TRUST_VARIABLE, "").split(os.pathsep) if name]
    if not names:
        return False
    try:
        folder = workspace.resolve()
        trusted = [Path(name).resolve() for name in names if Path(name).is_absolute()]
    except (OSError, RuntimeError, ValueError):  # a loop of links, for example
        return False
    return any(folder.is_relative_to(path) for path in trusted)


def refuse_read_only(*policies: Policy) -> None:
    """Refuse to write where nothing may be written but a file that the user names.

    Raises:
        WriteNotSupported: with the setting that says so.
    """
    if any(policy.is_read_only for policy in policies):
        raise WriteNotSupported(
            "the workspace is read-only (`sandbox.readOnly`): only what is sent can be pruned,"
            " nothing is written"
        )


def refuse_without_memory(config: Config) -> None:
    """Refuse what works with memory where it is switched off.

    Raises:
        Refused: with the setting that says so, and where it stands.
    """
    if not config.memory.is_enabled:
        setting = effective(config.settings, None).get("memory.enabled")
        where = f" by {setting.origins[-1].text}" if setting else ""
        raise Refused(
            f"memory is switched off (`memory.enabled`){where}: nothing is searched or stored"
        )


def _merge(*layers: tuple[list[Setting], list[Finding]]) -> Config:
    from ullage.core.config.checks import find_inconsistencies

    settings = merge_settings(settings for settings, _ in layers)
    findings = [finding for _, findings in layers for finding in findings]
    findings += find_inconsistencies(settings)
    return config_of(settings, tuple(findings))
