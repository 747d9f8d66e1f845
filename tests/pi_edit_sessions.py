"""Random sessions of pi and of the specifications' formats, to be edited."""

from collections.abc import Callable
from random import Random

from pi_files import BROKEN_LINES, SPECIAL_TEXTS, Json, PiFile, json_line, usage_of
from ullage.core.transcript.context import Context

_IMAGE: Json = {"type": "image", "data": "aGVsbG8=" * 3, "mimeType": "image/png"}
_ENDINGS = ("\n", "\n", "\n", "\r\n")


def _text(random: Random) -> str:
    return f"{random.choice(SPECIAL_TEXTS)} {random.randrange(10**6)}"


def _blocks(random: Random) -> list[Json]:
    blocks: list[Json] = [{"type": "text", "text": _text(random)}]
    for _ in range(random.choice([0, 0, 1, 2])):
        blocks.insert(random.randint(0, len(blocks)), _IMAGE)
    return blocks


def _content(random: Random) -> object:
    return _text(random) if random.random() < 0.5 else _blocks(random)


def random_pi(random: Random) -> bytes:
    """Make a pi session: a tree with calls side by side, edits, branches, chains of compactions."""
    pi = PiFile(ending=random.choice(_ENDINGS))
    pi.user(_content(random))
    for _ in range(random.randint(1, 9)):
        _step(pi, random)
    if random.random() < 0.15:
        pi.raw(b'{"type":"message","id":"torn"')
    elif random.random() < 0.2:
        pi.lines[-1] = pi.lines[-1].rstrip(b"\r\n")
    return pi.data


def _step(pi: PiFile, random: Random) -> None:
    steps: list[tuple[Callable[[PiFile, Random], object], int]] = [
        (_turn, 8),
        (lambda pi, random: pi.user(_content(random)), 2),
        (lambda pi, random: pi.custom_message(_content(random)), 1),
        (lambda pi, random: pi.branch_summary(_text(random)), 1),
        (_compaction, 2),
        (_context_edit, 2),
        (_branch, 1),
        (_other, 2),
    ]
    chosen = random.choices([step for step, _ in steps], [weight for _, weight in steps])[0]
    chosen(pi, random)


def _turn(pi: PiFile, random: Random) -> None:
    """Add an answer with calls side by side; a result may be late, twice apart, or never come."""
    ids = [f"call{random.randrange(10**9)}" for _ in range(random.randint(1, 3))]
    pi.assistant(
        random.choice(["", "I look."]),
        calls=[(call_id, "read", {"path": f"src/{call_id}.py", "n": 1.0}) for call_id in ids],
        usage=random.choice([None, 100, 1500, 0]),
        stop=random.choice(["toolUse", "toolUse", "aborted"]),
    )
    random.shuffle(ids)
    for call_id in ids:
        if random.random() < 0.1:
            continue
        if random.random() < 0.1:
            pi.custom_message("in between")
        fields: Json = {"details": {"truncation": {"content": "x" * 9}}, "future": 1e300}
        pi.message(
            "toolResult",
            toolCallId=call_id if random.random() < 0.95 else "never called",
            toolName="read",
            content=_blocks(random) if random.random() < 0.95 else None,
            isError=random.random() < 0.2,
            **(fields if random.random() < 0.5 else {}),
        )
    if random.random() < 0.7:
        pi.assistant("Done.", usage=random.choice([None, 200, 90_000]))


def _compaction(pi: PiFile, random: Random) -> None:
    first_kept = random.choice([*pi.ids, *pi.ids[-3:], "deadbeef"])
    pi.compaction(_text(random), first_kept, details={"readFiles": ["a"], "tokensAfter": 55})


def _context_edit(pi: PiFile, random: Random) -> None:
    replacement = random.choice([None, {"content": _content(random)}])
    pi.context_edit(random.choice(pi.ids), replacement)


def _branch(pi: PiFile, random: Random) -> None:
    pi.leaf = random.choice(pi.ids)
    pi.user("another way")


def _other(pi: PiFile, random: Random) -> None:
    match random.randrange(5):
        case 0:
            pi.message("bashExecution", command="ls", output=_text(random), exitCode=0)
        case 1:
            pi.message("system", content=_text(random))
        case 2:
            pi.raw(random.choice([line for line in BROKEN_LINES if b'"type"' not in line]))
            pi.user("after a broken line")
        case 3:
            pi.raw(b"\n")
            pi.entry("label", targetId=pi.ids[0], label="x")
        case _:
            pi.entry("custom", customType="other", data={"n": 1})


def continued_pi(context: Context) -> bytes:
    pi = PiFile(header=False)
    pi.ids = ["", ""] * 0x8000  # ids that no other file has
    pi.leaf = context.leaf_id
    pi.user("and now?")
    pi.assistant("Go on.", usage=777)
    return pi.data


class _Flat:
    """Entries whose message stands beside the entry's own fields: events, and flat ones."""

    def __init__(self, random: Random, *, has_tree: bool) -> None:
        self._random = random
        self._has_tree = has_tree
        self._unit = random.choice([1, 1000])
        self.entries: list[Json] = []
        self.leaf: object = None

    def add(self, kind: str, **fields: object) -> str:
        entry_id = f"msg-{len(self.entries):03}"
        tree: Json = {"parentId": self.leaf} if self._has_tree else {}
        if not self._has_tree or kind == "message":
            tree["timestamp"] = (1_707_820_000 + len(self.entries)) * self._unit
        self.entries.append({"id": entry_id, "type": kind, **tree, **fields})
        self.leaf = entry_id
        return entry_id

    def turn(self) -> None:
        random = self._random
        ids = [f"call{random.randrange(10**9)}" for _ in range(random.randint(1, 2))]
        calls: list[Json] = [
            {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {}} for call_id in ids
        ]
        usage: Json = {"usage": usage_of(400)} if random.random() < 0.5 else {}
        self.add("message", role="assistant", content=calls, stopReason="toolUse", **usage)
        for call_id in ids:
            if random.random() < 0.9:
                content = _content(random)
                self.add("message", role="tool", toolCallId=call_id, content=content)
        if random.random() < 0.7:
            self.add("message", role="assistant", content=_text(random), stopReason="stop")

    def step(self) -> None:
        random = self._random
        match random.randrange(8):
            case 0 | 1 | 2 | 3:
                self.turn()
            case 4:
                self.add("message", role="user", content=_content(random))
            case 5:
                self.add("tool_event", name="x")
            case 6 if self._has_tree and random.random() < 0.5:
                self.leaf = random.choice(self.entries)["id"]
                self.add("message", role="user", content="another way")
            case _:
                self.compaction()

    def compaction(self) -> None:
        chosen = self._random.choice([entry["id"] for entry in self.entries[-6:]] + ["nowhere"])
        key = "firstKeptEntryId" if self._has_tree else "boundaryMessageId"
        self.add("compaction", summary=_text(self._random), **{key: chosen})


def random_events(random: Random) -> bytes:
    """Make an event file: linear, without a header, times in seconds or milliseconds."""
    return _flat_file(random, b"", has_tree=False)


def random_flat(random: Random) -> bytes:
    """Make a flat file: entries with parents, a message's fields beside the entry's."""
    header = {"type": "session", "version": 2, "id": "6c5d1c5e", "cwd": "/work"}
    return _flat_file(random, json_line(header), has_tree=True)


def _flat_file(random: Random, header: bytes, *, has_tree: bool) -> bytes:
    flat = _Flat(random, has_tree=has_tree)
    flat.add("message", role="user", content="start")
    for _ in range(random.randint(1, 7)):
        flat.step()
    data = header + b"".join(json_line(entry) for entry in flat.entries)
    return data[:-1] if random.random() < 0.2 else data


def continued_events(context: Context) -> bytes:
    del context
    flat = _Flat(Random(0), has_tree=False)
    return _continued(flat)


def continued_flat(context: Context) -> bytes:
    flat = _Flat(Random(0), has_tree=True)
    flat.leaf = context.leaf_id
    return _continued(flat)


def _continued(flat: _Flat) -> bytes:
    flat.entries = [{}] * 500
    flat.add("message", role="user", content="and now?")
    usage = usage_of(777)
    flat.add("message", role="assistant", content="Go on.", usage=usage, stopReason="stop")
    return b"".join(json_line(entry) for entry in flat.entries[500:])
