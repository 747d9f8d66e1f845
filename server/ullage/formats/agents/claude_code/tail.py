"""What was appended to a Claude Code transcript, read for its last usage with nothing else.

For the hook of a prompt, which has no time for the whole. It knows the plain case alone: answers
of the model that was there before, one after the other on one branch. It gives up on anything that
`conversation.py` and `messages.py` would have to look at; they say what the fields are.
"""

from ullage.core.text.quick_json import is_list, is_object, parse_json
from ullage.core.transcript.agent_lines import most_tokens

USAGE_KEYS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
SYNTHETIC_MODEL = "<synthetic>"
"""Model of the answers that Claude Code writes itself, such as errors of the API."""
_SENT = ("user", "assistant", "attachment")
_LARGE = "[1m]"


def read_tail(lines: list[bytes], known: dict[str, object]) -> tuple[int | None, int] | None:
    """Give the tokens that the last answer reports, and how many at most came after.

    None for tokens where there is no answer; None at all where only a whole reading can tell.

    Args:
        known: of what stands before: `leaf`, `model`, `window_tokens`, and `answer_id` of the last
            usage.
    """
    thread: list[dict[str, object]] = []
    sizes: list[int] = []
    for line in lines:
        record = parse_json(line.decode("utf-8"))
        if not is_object(record) or _decides(record, known):
            return None
        if isinstance(record.get("uuid"), str) and record.get("isSidechain") is not True:
            thread.append(record)
            sizes.append(most_tokens(line) if record.get("type") in _SENT else 0)
    path = _follow(thread, known.get("leaf"))
    if path is None:
        return None
    if any(_names_other_model(record, known.get("model")) for record in thread):
        return None
    totals = [_read_total(record) for record in thread]
    last = max((at for at, total in enumerate(totals) if total > 0), default=None)
    if last is None:
        return None, sum(sizes)
    own = _answer_id(thread[last])
    ids = {_answer_id(record) for record in path}
    if own is None or own == known.get("answer_id") or own not in ids:
        return None
    answer = [at for at, record in enumerate(thread) if _answer_id(record) == own]
    n_after = sum(size for at, size in enumerate(sizes) if at > answer[0] and at not in answer)
    return totals[last], n_after


def _decides(record: dict[str, object], known: dict[str, object]) -> bool:
    """Whether a record changes what stands before it, or the window."""
    if record.get("type") == "cost-state":
        usage = record.get("modelUsage")
        costs = usage.get(str(known.get("model"))) if is_object(usage) else None
        return not is_object(costs) or costs.get("contextWindow") != known.get("window_tokens")
    if record.get("type") == "ullage-prune":
        return True
    is_boundary = str(record.get("subtype", "")).endswith("compact_boundary")
    return is_boundary or record.get("isCompactSummary") is True


def _follow(thread: list[dict[str, object]], leaf: object) -> list[dict[str, object]] | None:
    """List the records from the last one up to the leaf that was there; None where they do not
    lead to it."""
    by_id = {record.get("uuid"): record for record in thread}
    at = next((r for r in reversed(thread) if r.get("type") != "progress"), None)
    path: list[dict[str, object]] = []
    while at is not None and len(path) < len(thread):
        path.append(at)
        if at.get("parentUuid") == leaf:
            return path
        parent = at.get("parentUuid")
        at = by_id.get(parent) if isinstance(parent, str) else None
    return None if thread else []


def _names_other_model(record: dict[str, object], model: object) -> bool:
    """Whether a record may change the model, as `model.py` follows it."""
    attachment = record.get("attachment")
    if is_object(attachment) and "identity" in attachment:
        return True
    if record.get("type") != "assistant" or not _is_answer(record):
        return False
    named, requested = _message(record).get("model"), record.get("requestedModel")
    if requested is None:
        return model not in (named, f"{named}{_LARGE}")
    is_large = str(requested).lower().endswith(_LARGE)
    return model != (f"{named}{_LARGE}" if is_large else named) or (is_large and model != requested)


def _is_answer(record: dict[str, object]) -> bool:
    is_synthetic = _message(record).get("model") == SYNTHETIC_MODEL
    return not is_synthetic and record.get("isApiErrorMessage") is not True


def _read_total(record: dict[str, object]) -> int:
    """Add up the usage of an answer's last iteration; 0 where there is none."""
    usage = _message(record).get("usage")
    if record.get("type") != "assistant" or not _is_answer(record) or not is_object(usage):
        return 0
    iterations = usage.get("iterations")
    if is_list(iterations) and (counted := [each for each in iterations if is_object(each)]):
        usage = counted[-1]
    counts = [usage.get(key) or 0 for key in USAGE_KEYS]
    if not all(isinstance(count, int) for count in counts):
        raise ValueError("a usage that is no whole number")
    return sum(count for count in counts if isinstance(count, int))


def _answer_id(record: dict[str, object]) -> str | None:
    answer_id = _message(record).get("id") if record.get("type") == "assistant" else None
    return answer_id if isinstance(answer_id, str) else None


def _message(record: dict[str, object]) -> dict[str, object]:
    message = record.get("message")
    return message if is_object(message) else {}
