"""The short way of a hook: what most events need, with a few functions of the standard library.

A tool call that worked and holds no secret is laid down as it is, and taken in by whoever writes
the session's state next. A prompt is told of the usage that was reported since the last long way,
where that is all there is to it. For all else there is the long way, `hook_answer.py`.
"""

import os
from time import time_ns

from ullage.core.facts.kept_arguments import keep_arguments
from ullage.core.secrets.quick_gate import is_clean
from ullage.core.text.quick_json import is_list, is_object, parse_json, write_json
from ullage.core.transcript.agent_lines import advice_text, is_as_full, write_gauge_line
from ullage.store.files import quick_state

TYPE_CHECKING = False  # `typing` takes as long as the whole hook
if TYPE_CHECKING:
    from ullage.agent.hook_agents import HookAgent

MAX_INPUT_BYTES = 512 * 1024
"""What is longer takes so long to read that the long way adds little (chosen)."""
_MIN_ID_CHARS = 9
"""Shorter ids are numbers, for which all arguments count (`core/checkpoint/captured.py`)."""
_DIALECT_KEYS = ("sessionId", "hookEventName", "timestamp")


def answer_quickly(data: bytes, agent: "HookAgent") -> bytes | None:
    """Do what an event asks for, and give what is printed; None where the long way must."""
    try:
        fields = parse_json(data.decode("utf-8")) if len(data) <= MAX_INPUT_BYTES else None
        if not is_object(fields) or any(key in fields for key in _DIALECT_KEYS):
            return None
        match fields.get("hook_event_name"):
            case "PostToolUse":
                return _capture(fields, agent)
            case "UserPromptSubmit":
                return _tell_gauge(fields, agent)
            case _:
                return None
    except (OSError, ValueError, KeyError, RecursionError):
        # No snapshot, first of all.
        return None


def _capture(fields: dict[str, object], agent: "HookAgent") -> bytes | None:
    """Lay a tool call down."""
    if fields.get("agent_id"):
        # A subagent's, which is no event of the session.
        return b""
    call, folder = _read_call(fields), find_folder(fields.get("cwd"))
    snapshot = read_snapshot(fields, agent.name, quick_state.TOOL_EVENT)
    if call is None or snapshot is None:
        return None
    env_texts = quick_state.read_env_texts(folder)
    signs, state = snapshot.get("signs"), snapshot.get("state")
    if env_texts is None or not is_list(signs) or not isinstance(state, str):
        return None
    text = "\0".join(_list_texts(list(call.values())))
    if not is_clean(text, [*map(str, signs)], dict(os.environ), env_texts):
        return None
    tool = call | {"arguments": write_json(call["arguments"]), "at_ms": time_ns() // 1_000_000}
    return b"" if quick_state.lay_down(state, tool) else None


def _tell_gauge(fields: dict[str, object], agent: "HookAgent") -> bytes | None:
    """Tell how full the window is, by what was reported since the last long way."""
    path = fields.get("transcript_path") or ""
    if not isinstance(path, str) or not os.path.lexists(path):
        # A session begins before its transcript does.
        return b"" if isinstance(path, str) else None
    snapshot = read_snapshot(fields, agent.name, quick_state.PROMPT_EVENT)
    if (
        snapshot is None
        or agent.import_tail is None
        or not quick_state.are_settings_equal(snapshot)
    ):
        return None
    lines = quick_state.read_appended(path, snapshot)
    tail = None if lines is None else agent.import_tail()(lines, snapshot)
    if tail is None:
        return None
    n_told, n_most_after = tail
    n_used = snapshot["used"] if n_told is None else n_told
    window, notice = snapshot["window"], snapshot["gauge_ratio"]
    if not isinstance(n_used, int) or not isinstance(window, int) or not isinstance(notice, float):
        return None
    if (n_used + n_most_after) / window < notice:
        return b""
    is_reported = n_told is not None or snapshot["is_reported"] is True
    return None if n_most_after else _write_gauge(n_used, window, snapshot, is_reported=is_reported)


def _write_gauge(
    n_used: int, window: int, snapshot: dict[str, object], *, is_reported: bool
) -> bytes | None:
    share, urgent, own = n_used / window, snapshot["checkpoint_ratio"], snapshot["own_point"]
    if not isinstance(urgent, float) or share > 1:
        return None
    is_urgent = share >= urgent
    if is_urgent and not _is_saved(n_used, snapshot):
        return None
    if snapshot["is_certain"] is not True:
        return b""
    text = write_gauge_line(share, n_used, window, is_estimated=not is_reported, is_saved=is_urgent)
    if is_urgent:
        text += "\n" + advice_text(share, own if isinstance(own, int) else None)
    output = {"hookEventName": "UserPromptSubmit", "additionalContext": text}
    return write_json({"hookSpecificOutput": output}).encode("utf-8")


def _is_saved(n_used: int, snapshot: dict[str, object]) -> bool:
    """Whether the latest checkpoint is of a context as full as this one."""
    n_saved, percent = snapshot["saved"], snapshot["minimum_change_percent"]
    return (
        isinstance(n_saved, int)
        and isinstance(percent, int | float)
        and is_as_full(n_saved, n_used, percent)
    )


def _read_call(fields: dict[str, object]) -> dict[str, object] | None:
    """Read a call that worked, with the arguments that tell what it did."""
    call_id, name = fields.get("tool_use_id"), fields.get("tool_name")
    arguments, response = fields.get("tool_input"), fields.get("tool_response")
    if is_object(response) and (response.get("is_error") or response.get("isError")):
        return None
    if not isinstance(call_id, str) or not isinstance(name, str) or not is_object(arguments):
        return None
    kept = keep_arguments(name, arguments)
    if kept is None or not name or len(call_id) < _MIN_ID_CHARS:
        return None
    return {"call_id": call_id, "name": name, "arguments": kept}


def read_snapshot(fields: dict[str, object], agent: str, event: str) -> dict[str, object] | None:
    """Read the snapshot of the session that an agent names, for an event of it."""
    name = quick_state.session_name(agent, str(fields.get("session_id")))
    folder = find_folder(fields.get("cwd"))
    return None if name is None else quick_state.read_snapshot(name, event, folder)


def find_folder(named: object) -> str:
    """Give the project's folder: that of Claude Code's event follows its `cd`."""
    return os.environ.get("CLAUDE_PROJECT_DIR") or str(named or "")


def _list_texts(values: list[object]) -> list[str]:
    texts: list[str] = []
    for value in values:
        if isinstance(value, str):
            texts.append(value)
        elif is_list(value):
            texts += _list_texts(value)
        elif is_object(value):
            texts += [*value, *_list_texts(list(value.values()))]
    return texts
