"""`ullage statusline`: one line for an agent, tmux or a prompt, by the short way if that can.

An agent runs it at every answer and a shell at every prompt, so click, msgspec and the formats are
imported only where a session has to be read whole. docs/statusline.md says what is told when.
"""

import os
import sys
from _thread import allocate_lock, start_new_thread
from io import BytesIO, TextIOWrapper
from time import time

from ullage.agent.hook import MAX_INPUT_BYTES, end, load_packages
from ullage.core.gauge.status_line import (
    DEFAULT_FORMAT,
    color_of,
    find_unknown,
    list_figure_values,
    list_gauge_values,
    write_status_line,
)
from ullage.core.text.quick_json import is_object, parse_json
from ullage.formats.agents.claude_code import status_input

TYPE_CHECKING = False  # `typing` takes as long as the whole line
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO, TextIO

AGENT = "claude-code"
"""The one agent that gives its status line the session."""
INPUT_TIME_LIMIT_S = 1.0
"""tmux leaves the input open and writes nothing; an agent has it at hand (chosen)."""
_BLOCK_BYTES = 1024 * 1024
_TITLE_MARKS = (b'-title"', b'"summary"')


def print_quickly(arguments: "Sequence[str]") -> None:
    """Print the line by the short way and leave, where that can; else all is as it was."""
    template = read_template(arguments)
    data = _read_input()
    try:
        fields = _parse_fields(data)
        write = _write_agents if fields else _write_folders
        line = write(fields, template) if template else None
    except (ImportError, OSError, ValueError, KeyError, RecursionError):
        # No snapshot, first of all.
        line = None
    if line is not None:
        end(encode_line(line))
    load_packages()
    # The input gives it once.
    sys.stdin = TextIOWrapper(BytesIO(data))


def read_template(arguments: "Sequence[str]") -> str:
    """Give what the line is to say; empty where click has to tell what is wrong, or to help."""
    match [*arguments]:
        case []:
            return DEFAULT_FORMAT
        case ["--format", template] if find_unknown(template) is None:
            return template
        case _:
            return ""


def find_line(template: str) -> str:
    """Give the line, reading the session whole: the agent's, else that of the folder.

    Raises:
        UllageError: the session cannot be read.
    """
    fields = _parse_fields(_read_input())
    told, figures = _read_agents(fields) if fields else _read_folders()
    if not told:
        return ""
    values = list_figure_values(figures, time()) | status_input.read_names(fields)
    return _write(template, told, told.get("used"), values, is_asked=bool(fields))


def encode_line(line: str) -> bytes:
    """Encode the line for those that read it, whatever a terminal's encoding is."""
    return f"{line}\n".encode("utf-8", "replace") if line else b""


def _write_agents(fields: dict[str, object], template: str) -> str | None:
    """Write an agent's line by the last snapshot, and keep what the agent told."""
    from ullage.agent.quick_answer import read_snapshot
    from ullage.store.files import quick_state

    snapshot, root = (
        read_snapshot(fields, AGENT, quick_state.STATUS_EVENT),
        quick_state.state_folder(),
    )
    if snapshot is None or root is None:
        return None
    figures = status_input.read_status_input(fields)
    quick_state.keep_figures(root, f"{AGENT}.{fields['session_id']}", figures)
    values = list_figure_values(figures, time()) | status_input.read_names(fields)
    path = str(fields.get("transcript_path"))
    return _write_quickly(template, snapshot, path, values, is_asked=True)


def _write_folders(_: dict[str, object], template: str) -> str | None:
    """Write a folder's line by the last snapshot; empty where it had no session."""
    from ullage.store.files import quick_state

    folder = os.getcwd()  # noqa: PTH109 -- pathlib takes longer than the line
    name = quick_state.folder_name(folder)
    snapshot = quick_state.read_snapshot(name, quick_state.STATUS_EVENT, folder)
    if snapshot is None:
        return None
    path, figures = snapshot["transcript"], snapshot.get("figures")
    if not path or not is_object(figures):
        return ""
    values = list_figure_values(figures, time())
    return _write_quickly(template, snapshot, str(path), values, is_asked=False)


def _write_quickly(
    template: str,
    snapshot: dict[str, object],
    path: str,
    values: dict[str, str],
    *,
    is_asked: bool,
) -> str | None:
    """Write the line by a snapshot and what was appended since."""
    from ullage.formats.agents.claude_code.tail import read_tail
    from ullage.store.files import quick_state

    lines = quick_state.read_appended(path, snapshot)
    if lines is None or not quick_state.are_settings_equal(snapshot):
        return None
    if lines and snapshot["agent_id"] != AGENT:
        return None
    tail = read_tail(lines, snapshot) if lines else (None, 0)
    if tail is None or any(mark in line for line in lines for mark in _TITLE_MARKS):
        return None
    (n_told, n_most_after), window = tail, snapshot["window"]
    n_used = snapshot["used"] if n_told is None else n_told
    if not isinstance(n_used, int) or not isinstance(window, int) or n_used > window:
        return None
    told = snapshot if n_told is None else snapshot | {"is_reported": True}
    line = _write(template, told, n_used, values, is_asked=is_asked)
    # What was not counted here must make no difference.
    most = _write(template, told, n_used + n_most_after, values, is_asked=is_asked)
    return line if line == most else None


def _write(
    template: str,
    told: dict[str, object],
    n_used: object,
    known: dict[str, str],
    *,
    is_asked: bool,
) -> str:
    """Write the line in colors where who shows it knows them: Claude Code, or a terminal."""
    has_colors = not os.environ.get("NO_COLOR") and (is_asked or sys.stdout.isatty())
    values = list_gauge_values(told, n_used) | known
    shown = {name: "".join(filter(str.isprintable, value)) for name, value in values.items()}
    color = color_of(told, n_used) if has_colors else ""
    return write_status_line(template, shown, color=color, n_columns=_n_columns())


def _read_agents(fields: dict[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Measure the session that an agent tells of, and keep what it told of it.

    A state folder that takes nothing is no reason to tell nothing.
    """
    from contextlib import suppress
    from pathlib import Path

    from ullage.agent.quick_answer import find_folder
    from ullage.app.config.load import load_config
    from ullage.app.gauge.status_line import describe_line, leave_snapshot
    from ullage.app.sessions.load import load
    from ullage.app.sessions.open import open_session
    from ullage.errors import StorageError
    from ullage.formats.registry import agent_info
    from ullage.store.files.places import places_of_agent
    from ullage.store.state.agent_figures import figures_path, write_figures

    figures = status_input.read_status_input(fields)
    places = places_of_agent(find_folder(fields.get("cwd")))
    config = load_config(places, workspace=places.cwd)
    kept = figures_path(AGENT, str(fields.get("session_id")), places)
    if kept is not None and not config.policy.is_read_only:
        with suppress(StorageError):
            write_figures(kept, figures)
    path = Path(str(fields.get("transcript_path") or ""))
    if not path.is_file():
        # A session begins before its transcript does.
        return {"agent": agent_info(AGENT).name, **status_input.read_gauge(fields)}, figures
    loaded = load(open_session(path), config, places)
    leave_snapshot(loaded, places)
    return describe_line(loaded), figures


def _read_folders() -> tuple[dict[str, object], dict[str, object]]:
    """Measure the session that the working folder's gauge shows; nothing where it has none."""
    from ullage.app.config.load import load_config
    from ullage.app.gauge.status_line import describe_figures, describe_line, leave_folder_snapshot
    from ullage.app.sessions.find import look
    from ullage.app.sessions.load import load
    from ullage.store.files.places import current_places

    places = current_places()
    config = load_config(places, workspace=places.cwd)
    places = places.for_reading(is_read_only=config.policy.is_read_only)
    seen = look((places.cwd,), places)
    loaded = load(seen[0].session, config, places) if seen else None
    leave_folder_snapshot(seen, loaded, places)
    return ({}, {}) if loaded is None else (describe_line(loaded), describe_figures(loaded))


def _parse_fields(data: bytes) -> dict[str, object]:
    """Read what an agent tells of its session; nothing where the input is no agent's."""
    try:
        fields = parse_json(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return fields if is_object(fields) and fields.get("session_id") else {}


def _read_input() -> bytes:
    """Read the standard input to its end, as long as somebody writes; too much of it is none."""
    # Its type does not say so, but it is None where it is closed.
    stream: TextIO | None = sys.stdin
    if stream is None or stream.isatty():
        return b""
    blocks: list[bytes] = []
    is_whole = allocate_lock()
    is_whole.acquire()
    # Below the buffer, whose lock would keep Python from ending.
    source: BinaryIO = getattr(stream.buffer, "raw", stream.buffer)

    def read() -> None:
        n_bytes = 0
        while block := source.read(_BLOCK_BYTES):
            n_bytes += len(block)
            if n_bytes > MAX_INPUT_BYTES:
                blocks.clear()
                break
            blocks.append(block)
        is_whole.release()

    start_new_thread(read, ())
    return b"".join(blocks) if is_whole.acquire(timeout=INPUT_TIME_LIMIT_S) else b""


def _n_columns() -> int | None:
    try:
        n_columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        return None
    return n_columns if n_columns > 0 else None
