"""What was appended to a rollout, read for its last usage with nothing else.

For the hook of a prompt, which has no time for the whole. It gives up on anything that
`history.py` and `assembly.py` would have to look at; they say what the fields are.
"""

from ullage.core.text.quick_json import is_object, parse_json
from ullage.core.transcript.agent_lines import most_tokens

TOOLS_TYPE = "additional_tools"
"""An item that holds the schemas of tools, where a request has no other place for them."""
UNDO_TYPE = "ghost_snapshot"
"""An item for Codex's own undo."""
_NOT_THE_MODELS = ("message", UNDO_TYPE, TOOLS_TYPE)
_PARTS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")


def read_tail(lines: list[bytes], known: dict[str, object]) -> tuple[int | None, int] | None:
    """Give the tokens that were reported last, and how many at most came after.

    None for tokens where nothing is reported; None at all where only a whole reading can tell.

    Args:
        known: of what stands before: `model`, `window_tokens`, `reported`.
    """
    n_told: int | None = None
    last_told = known.get("reported")
    sizes: list[int] = []
    n_covered = n_model = 0
    for line in lines:
        record = parse_json(line.decode("utf-8"))
        payload = record.get("payload") if is_object(record) else None
        if not is_object(record) or not is_object(payload) or _decides(record, payload, known):
            return None
        match record.get("type"), payload.get("type"):
            case "response_item", kind:
                sizes.append(most_tokens(line))
                n_model = len(sizes) if _is_of_model(payload, str(kind)) else n_model
            case "event_msg", "token_count":
                n_total = _read_total(payload)
                if n_total in (0, last_told):
                    continue
                if n_total is None or not n_model:
                    return None
                n_told = last_told = n_total
                n_covered = n_model
            case _:
                pass
    return n_told, sum(sizes[n_covered:])


def _decides(
    record: dict[str, object], payload: dict[str, object], known: dict[str, object]
) -> bool:
    """Whether a line changes what stands before it, the model or the window."""
    kind, subtype = record.get("type"), payload.get("type")
    if kind == "compacted" or subtype == "thread_rolled_back" or "ullage" in payload:
        return True
    if kind == "response_item" and str(subtype).startswith("compaction"):
        return True
    if kind == "turn_context" and payload.get("model") not in (None, known.get("model")):
        return True
    info = payload if "model_context_window" in payload else payload.get("info")
    window = info.get("model_context_window") if is_object(info) else None
    return window not in (None, 0, known.get("window_tokens"))


def _is_of_model(payload: dict[str, object], kind: str) -> bool:
    is_model = kind not in _NOT_THE_MODELS and not kind.endswith("_output")
    return is_model or (kind == "message" and payload.get("role") == "assistant")


def _read_total(payload: dict[str, object]) -> int | None:
    """Read the total; 0 where there is none, None where it is an estimate or no whole number."""
    info = payload.get("info")
    usage = info.get("last_token_usage") if is_object(info) else None
    if not is_object(usage):
        return 0
    n_total = usage.get("total_tokens")
    if not isinstance(n_total, int) or not any(usage.get(key) for key in _PARTS):
        return None
    return max(0, n_total)
