"""Gemini CLI's own settings, as far as they say when it compresses (0.61)."""

import math
import sys
from pathlib import Path

from ullage.core.gauge.gauge import CompactionPoint
from ullage.formats.agent_info import Env, Home, RunningSession

DEFAULT_RATIO = 0.5
"""`DEFAULT_COMPRESSION_TOKEN_THRESHOLD` of its `chatCompressionService.js`."""
_KEYS = (
    ("model", "compressionThreshold"),
    # Until version 0.3 settings were not grouped.
    ("chatCompression", "contextPercentageThreshold"),
    ("model", "chatCompression", "contextPercentageThreshold"),
)
HOME = Home(variable="GEMINI_CLI_HOME", default="", folders=(".gemini/tmp",))


def list_setting_files(path: Path, cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    """List the settings of the machine, of the folder, of the user, and the machine's defaults."""
    del path
    machine = _machine_folder()
    chosen = env.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
    return (
        Path(chosen) if chosen else machine / "settings.json",
        cwd / ".gemini" / "settings.json",
        HOME.root(env, home) / ".gemini" / "settings.json",
        machine / "system-defaults.json",
    )


def _machine_folder() -> Path:
    if sys.platform == "darwin":
        return Path("/Library/Application Support/GeminiCli")
    if sys.platform == "win32":
        return Path("C:/ProgramData/gemini-cli")
    return Path("/etc/gemini-cli")


def find_compaction_point(session: RunningSession) -> CompactionPoint:
    """Tell where the Gemini CLI compresses: half the window, 524,288 of 1,048,576."""
    numbers = (session.settings.find_number(*keys) for keys in _KEYS)
    ratio = next((number for number in numbers if number is not None), None)
    if ratio is None or ratio.value == 0:
        at_tokens = math.ceil(session.window.n_tokens * DEFAULT_RATIO)
        return CompactionPoint(
            at_tokens=at_tokens, source="default", detail="half of the window, its default"
        )
    at_tokens = math.ceil(session.window.n_tokens * ratio.value)
    return CompactionPoint(at_tokens=at_tokens, source="setting", detail=ratio.origin)
