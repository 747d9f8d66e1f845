"""Session files of pi, built from readable calls, and strategies of random ones.

>>> pi = PiFile()
>>> first = pi.user("hello")
>>> pi.assistant("hi", usage=120)
>>> pi.data  # the bytes of the file
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st

Json = dict[str, object]
START = datetime(2026, 2, 3, 10, 0, tzinfo=UTC)
SESSION_ID = "019c2f00-0000-7000-8000-000000000001"
MODEL = "claude-sonnet-4-5"


def json_line(value: object, ending: str = "\n") -> bytes:
    """Write a line as a JavaScript agent does: plain UTF-8, lone surrogates escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return (text + ending).encode()
    except UnicodeEncodeError:
        return (json.dumps(value, separators=(",", ":")) + ending).encode()


def usage_of(n_total: int) -> Json:
    n_output = min(20, n_total)
    return {
        "input": n_total - n_output,
        "output": n_output,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": n_total,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    }


class PiFile:
    """A pi session that grows by one line a call; each call gives the id of its entry."""

    def __init__(
        self,
        *,
        version: int = 3,
        cwd: str = "/work/shop",
        session_id: str = SESSION_ID,
        ending: str = "\n",
        header: bool = True,
    ) -> None:
        self.version = version
        self.ending = ending
        self.lines: list[bytes] = []
        self.ids: list[str] = []
        self.leaf: str | None = None
        """Entry that the next one follows; set it to branch off."""
        if header:
            versioned: Json = {} if version == 1 else {"version": version}
            self.raw(
                {
                    "type": "session",
                    **versioned,
                    "id": session_id,
                    "timestamp": self._timestamp(),
                    "cwd": cwd,
                }
            )

    @property
    def data(self) -> bytes:
        return b"".join(self.lines)

    def raw(self, line: bytes | Json) -> None:
        """Add a line as it stands."""
        self.lines.append(line if isinstance(line, bytes) else json_line(line, self.ending))

    def entry(self, kind: str, **fields: object) -> str:
        """Add an entry of any kind that follows the leaf."""
        entry_id = f"{len(self.ids) + 0xA0:08x}"
        tree: Json = {} if self.version == 1 else {"id": entry_id, "parentId": self.leaf}
        self.raw({"type": kind, **tree, "timestamp": self._timestamp(), **fields})
        self.ids.append(entry_id)
        self.leaf = entry_id
        return entry_id

    def message(self, role: str, **fields: object) -> str:
        message = {"role": role, **fields, "timestamp": self._n_ms()}
        return self.entry("message", message=message)

    def user(self, content: object) -> str:
        return self.message("user", content=content)

    def assistant(
        self,
        text: str = "",
        *,
        calls: Iterable[tuple[str, str, Mapping[str, object]]] = (),
        usage: int | Json | None = 100,
        stop: str = "stop",
        model: str = MODEL,
    ) -> str:
        """Add an answer; `calls` are call id, tool and arguments, `usage` the total tokens."""
        content: list[object] = [{"type": "text", "text": text}] if text else []
        content += [
            {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
            for call_id, name, arguments in calls
        ]
        reported: Json = {}
        if usage is not None:
            reported = {"usage": usage_of(usage) if isinstance(usage, int) else usage}
        return self.message(
            "assistant",
            content=content,
            api="anthropic-messages",
            provider="anthropic",
            model=model,
            **reported,
            stopReason=stop,
        )

    def result(self, call_id: str, text: str, *, name: str = "bash", is_error: bool = False) -> str:
        return self.message(
            "toolResult",
            toolCallId=call_id,
            toolName=name,
            content=[{"type": "text", "text": text}],
            isError=is_error,
        )

    def compaction(self, summary: str, first_kept: object, **fields: object) -> str:
        """Add a compaction; in version 1, `first_kept` is the number of a line."""
        key = "firstKeptEntryIndex" if self.version == 1 else "firstKeptEntryId"
        return self.entry(
            "compaction", summary=summary, **{key: first_kept}, tokensBefore=900, **fields
        )

    def branch_summary(self, summary: str, from_id: str = "root") -> str:
        return self.entry("branch_summary", fromId=from_id, summary=summary)

    def custom_message(self, content: object) -> str:
        return self.entry("custom_message", customType="note", content=content, display=True)

    def context_edit(self, target_id: str, replacement: object) -> str:
        return self.entry("context_edit", targetId=target_id, replacement=replacement)

    def _n_ms(self) -> int:
        return round((START + timedelta(minutes=len(self.lines))).timestamp() * 1000)

    def _timestamp(self) -> str:
        at = START + timedelta(minutes=len(self.lines))
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def entry_line(entry_id: str, parent_id: str | None, content: str = "again") -> bytes:
    """Make a user's message that follows any entry at all."""
    message = {"role": "user", "content": content, "timestamp": 1}
    place = {"id": entry_id, "parentId": parent_id, "timestamp": "2026-02-03T11:00:00.000Z"}
    return json_line({"type": "message", **place, "message": message})


def conversation(
    n_turns: int,
    *,
    chars: int = 400,
    usage: int | None = None,
    cwd: str = "/work/shop",
    model: str = "gpt-4-turbo",
    session_id: str = SESSION_ID,
) -> PiFile:
    """Build a plain conversation; the last answer reports `usage` tokens.

    The model is one whose tokenizer loads in half the time of the newer ones.
    """
    pi = PiFile(cwd=cwd, session_id=session_id)
    for n in range(n_turns):
        pi.user(f"Please look at file number {n}. " + "It matters. " * (chars // 12))
        call_id = f"c{n}"
        calls = [(call_id, "read", {"path": f"src/file{n}.py"})]
        pi.assistant("I read it.", calls=calls, stop="toolUse", model=model)
        pi.result(call_id, f"def f{n}(): ...\n" + "x = 1\n" * (chars // 6), name="read")
        is_last = n == n_turns - 1
        n_used = usage if is_last and usage is not None else 100 + n
        pi.assistant(f"Done with number {n}.", usage=n_used, model=model)
    return pi


SPECIAL_TEXTS = (
    "",
    "line\u2028separator",
    "paragraph\u2029separator",
    "next\u0085line",
    "vertical\x0btab and form\x0cfeed",
    "lone \ud83d high",
    "lone \udc00 low",
    "nul \x00 byte",
    "grüße 你好 🍷",
    "</summary>",
    "\r\n\t",
)
texts = st.sampled_from(SPECIAL_TEXTS) | st.text(
    st.characters(categories=["L", "N", "P", "Z", "S", "Cc", "Cs"]), max_size=12
)
contents = texts | st.lists(
    texts.map(lambda text: {"type": "text", "text": text})
    | texts.map(lambda text: {"type": "image", "data": text, "mimeType": "image/png"})
    | texts.map(lambda text: {"type": "hologram", "text": text}),
    max_size=3,
)
usages = st.none() | st.integers(0, 300_000)


@st.composite
def pi_files(draw: st.DrawFn, versions: tuple[int, ...] = (1, 2, 3)) -> PiFile:
    """Draw a file that pi could have written: a tree with branches and compactions."""
    pi = PiFile(
        version=draw(st.sampled_from(versions)), ending=draw(st.sampled_from(["\n", "\n", "\r\n"]))
    )
    for _ in range(draw(st.integers(0, 14))):
        _draw_step(draw, pi)
    if draw(st.booleans()) and pi.lines:
        pi.lines[-1] = pi.lines[-1].rstrip(b"\r\n")
    return pi


@st.composite
def damaged_pi_files(draw: st.DrawFn) -> PiFile:
    """Draw a file in which ids repeat, parents are missing or below, lines are no entries."""
    pi = PiFile(version=draw(st.sampled_from([2, 3])))
    for _ in range(draw(st.integers(0, 10))):
        _draw_step(draw, pi)
        match draw(st.integers(0, 7)):
            case 0:
                pi.raw(draw(st.sampled_from(BROKEN_LINES)))
            case 1:
                pi.leaf = draw(st.sampled_from(["deadbeef", "", f"{len(pi.ids) + 0xA2:08x}"]))
            case 2 if pi.ids:
                entry_id = draw(st.sampled_from(pi.ids))
                parent_id = draw(st.sampled_from([None, *pi.ids]))
                kind = draw(st.sampled_from(["custom", "compaction", "message"]))
                pi.raw(
                    {
                        "type": kind,
                        "id": entry_id,
                        "parentId": parent_id,
                        "timestamp": "2026-02-03T11:00:00.000Z",
                        "message": {"role": "user", "content": "again", "timestamp": 1},
                        "summary": "again",
                    }
                )
            case _:
                pass
    return pi


BROKEN_LINES = (
    b"{}\n",
    b"null\n",
    b"[1, 2]\n",
    b'"text"\n',
    b"not json\n",
    b'{"type":"message","id":"x"\n',
    b"\xff\xfe\n",
    b"\0\0\0\0\n",
    b'{"type":7,"id":8,"parentId":9,"timestamp":[]}\n',
    b'{"type":"compaction"}\n',
    b'{"type":"message","message":[]}\n',
)


def _draw_step(draw: st.DrawFn, pi: PiFile) -> None:
    if pi.version > 1 and pi.ids and draw(st.integers(0, 5)) == 0:
        pi.leaf = draw(st.sampled_from([None, *pi.ids]))
    target = draw(st.sampled_from(pi.ids)) if pi.ids else "none"
    match draw(st.integers(0, 13)):
        case 0 | 1:
            pi.user(draw(contents))
        case 2 | 3:
            calls = [("c1", "bash", {"command": draw(texts)})] if draw(st.booleans()) else []
            stop = draw(st.sampled_from(["stop", "toolUse", "error", "aborted"]))
            model = draw(st.sampled_from([MODEL, "gpt-5", "local"]))
            pi.assistant(draw(texts), calls=calls, usage=draw(usages), stop=stop, model=model)
        case 4:
            pi.result("c1", draw(texts), is_error=draw(st.booleans()))
        case 5 | 6:
            _draw_compaction(draw, pi, target)
        case 7:
            pi.branch_summary(draw(texts))
        case 8:
            pi.custom_message(draw(contents))
        case 9:
            replacement = draw(st.none() | st.fixed_dictionaries({"content": contents}))
            pi.context_edit(target, replacement)
        case 10:
            pi.message(
                "bashExecution",
                command=draw(texts),
                output=draw(texts),
                exitCode=draw(st.none() | st.integers(0, 2)),
                cancelled=draw(st.booleans()),
                truncated=False,
            )
        case 11:
            pi.entry(
                "model_change", provider="openai", modelId=draw(st.sampled_from(["gpt-5", "o3"]))
            )
        case 12:
            role = draw(st.sampled_from(["hookMessage", "custom", "oracle", "system"]))
            pi.message(role, customType="h", content=draw(contents), display=True)
        case _:
            kind = draw(st.sampled_from(["label", "custom", "session_info", "usage", "from_2031"]))
            pi.entry(kind, name=draw(texts))
            pi.raw(draw(st.sampled_from([b"\n", b"\r\n", b"  \n"])))


def _draw_compaction(draw: st.DrawFn, pi: PiFile, target: str) -> None:
    first_kept: object = draw(st.sampled_from([target, target, target, "deadbeef"]))
    if pi.version == 1:
        first_kept = draw(st.integers(-1, len(pi.ids) + 3))
    fields: Json = {}
    if draw(st.booleans()):
        fields = {"details": {"readFiles": [draw(texts)], "tokensAfter": 55}, "fromHook": True}
    pi.compaction(draw(texts), first_kept, **fields)


def grow(pi: PiFile, path: Path, usage: int) -> None:
    """Let a session grow by a turn."""
    n_before = len(pi.data)
    pi.user("and now?")
    pi.assistant("Done.", usage=usage)
    with path.open("ab") as file:
        file.write(pi.data[n_before:])
