"""Transcripts of Claude Code, built from readable calls, and a strategy of random ones.

>>> claude = ClaudeFile()
>>> claude.user("hello")
>>> claude.assistant(text("hi"), usage=120)
>>> claude.data  # the bytes of the file
"""

from collections.abc import Iterable
from datetime import timedelta

from hypothesis import strategies as st

from pi_files import MODEL, START, Json, json_line, texts

SESSION_ID = "33333333-4444-4555-8666-777777777777"
_CHOICES = (MODEL, f"{MODEL}[1m]", "another-model")


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def thinking(value: str) -> Json:
    return {"type": "thinking", "thinking": value, "signature": "c2ln"}


def call(call_id: str, name: str = "Bash", **arguments: object) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, value: object, *, is_error: bool = False) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": value, "is_error": is_error}


def usage_of(n_total: int) -> Json:
    """Give a usage that comes to a total, spread over its four kinds."""
    n_output, n_write = min(7, n_total), min(30, max(0, n_total - 7))
    return {
        "input_tokens": max(0, n_total - n_output - n_write),
        "cache_creation_input_tokens": n_write,
        "cache_read_input_tokens": 0,
        "output_tokens": n_output,
        "iterations": [],
    }


def uuid_of(number: int) -> str:
    return f"00000000-0000-4000-8000-{number + 0xA0:012x}"


class ClaudeFile:
    """A transcript that grows by a line or more a call; each call gives its last uuid."""

    def __init__(
        self,
        *,
        cwd: str = "/work/shop",
        session_id: str = SESSION_ID,
        agent_id: str | None = None,
        ending: str = "\n",
    ) -> None:
        self.cwd = cwd
        self.session_id = session_id
        self.agent_id = agent_id
        """Given for a subagent's own file."""
        self.ending = ending
        self.lines: list[bytes] = []
        self.uuids: list[str] = []
        self.leaf: str | None = None

    @property
    def data(self) -> bytes:
        return b"".join(self.lines)

    def raw(self, line: bytes | Json) -> None:
        self.lines.append(line if isinstance(line, bytes) else json_line(line, self.ending))

    def note(self, kind: str = "queue-operation", **fields: object) -> None:
        """Add a record that is no part of the conversation."""
        self.raw({"type": kind, **fields, "sessionId": self.session_id})

    def record(
        self, kind: str, *, parent: str | None = None, sidechain: bool = False, **fields: object
    ) -> str:
        """Add a record of the conversation; it follows the leaf, or `parent` where given."""
        uuid = uuid_of(len(self.uuids))
        at = START + timedelta(minutes=len(self.lines))
        agent: Json = {} if self.agent_id is None else {"agentId": self.agent_id}
        self.raw(
            {
                "parentUuid": self.leaf if parent is None else parent,
                "isSidechain": sidechain or self.agent_id is not None,
                **agent,
                "type": kind,
                "uuid": uuid,
                "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "userType": "external",
                "cwd": self.cwd,
                "sessionId": self.session_id,
                "version": "2.1.329",
            }
            | fields
        )
        self.uuids.append(uuid)
        if not sidechain:
            self.leaf = uuid
        return uuid

    def user(self, content: object, **fields: object) -> str:
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def assistant(
        self,
        *blocks: Json,
        usage: int | Json | None = 100,
        answer_id: str | None = None,
        model: str = MODEL,
        **fields: object,
    ) -> str:
        """Add an answer: one line a block, all with the same id and usage."""
        answer_id = answer_id or f"msg_{len(self.uuids)}"
        reported: Json = {}
        if usage is not None:
            reported = {"usage": usage_of(usage) if isinstance(usage, int) else usage}
        uuid = ""
        for block in blocks:
            message: Json = {
                "id": answer_id,
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [block],
                **reported,
            }
            uuid = self.record("assistant", message=message, requestId="req_1", **fields)
        return uuid

    def boundary(
        self,
        *,
        preserved: Iterable[str] = (),
        n_before: int | None = 900,
        n_after: int | None = 60,
        trigger: str = "auto",
    ) -> str:
        self.leaf, before = None, self.leaf
        summary_id = uuid_of(len(self.uuids) + 1)
        kept: Json = {"anchorUuid": summary_id, "uuids": list(preserved)}
        metadata: Json = {"trigger": trigger, "preservedMessages": kept}
        if n_before is not None:
            metadata["preTokens"] = n_before
        if n_after is not None:
            metadata["postTokens"] = n_after
        return self.record(
            "system",
            subtype="compact_boundary",
            logicalParentUuid=before,
            content="Conversation compacted",
            compactMetadata=metadata,
        )

    def summary(self, value: str) -> str:
        return self.user(value, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def attachment(self, value: str) -> str:
        rendered = [{"content": f"<system-reminder>{value}</system-reminder>"}]
        return self.record(
            "attachment", attachment={"type": "environment", "content": value}, rendered=rendered
        )

    def announce(self, model: str) -> str:
        """Add what tells the model who it is, as Claude Code does when it is chosen."""
        return self.record(
            "attachment",
            attachment={"type": "model", "identity": {"modelId": model}},
            rendered=[{"content": f"The exact model ID is {model}."}],
            renderedRole="system",
        )

    def costs(self, usage: dict[str, Json]) -> None:
        """Add the sums of all models, as Claude Code does when it ends."""
        self.note("cost-state", modelUsage=usage)


@st.composite
def claude_files(draw: st.DrawFn) -> ClaudeFile:
    """Draw a transcript: answers on several lines, compactions, side chains, branches."""
    claude = ClaudeFile(ending=draw(st.sampled_from(["\n", "\n", "\r\n"])))
    if draw(st.booleans()):
        claude.note()
    claude.user(draw(texts))
    for _ in range(draw(st.integers(0, 12))):
        _draw_step(draw, claude)
    if draw(st.booleans()):
        claude.lines[-1] = claude.lines[-1].rstrip(b"\r\n")
    return claude


def _draw_step(draw: st.DrawFn, claude: ClaudeFile) -> None:
    match draw(st.integers(0, 11)):
        case 0:
            claude.user(draw(texts), isMeta=draw(st.booleans()))
        case 1:
            claude.assistant(
                thinking(draw(texts)), text(draw(texts)), usage=draw(st.integers(0, 9))
            )
        case 2:
            claude.assistant(text("later"), model="<synthetic>", isApiErrorMessage=True, usage=0)
        case 3 | 4:
            _draw_calls(draw, claude)
        case 5:
            claude.record(
                "user",
                sidechain=True,
                message={"role": "user", "content": draw(texts)},
            )
        case 6:
            uuids = draw(st.lists(st.sampled_from(claude.uuids), unique=True, max_size=3))
            claude.boundary(preserved=uuids, n_after=draw(st.none() | st.integers(0, 99)))
            claude.summary(draw(texts))
        case 7:
            claude.attachment(draw(texts))
        case 8:
            claude.note(draw(st.sampled_from(["last-prompt", "mode", "from-2031"])))
            claude.raw(draw(st.sampled_from([b"\n", b"\r\n"])))
        case 9:
            claude.announce(draw(st.sampled_from(_CHOICES)))
        case 10:
            named = draw(st.lists(st.sampled_from(_CHOICES), unique=True, max_size=2))
            claude.costs({name: {"contextWindow": len(name) * 10_000} for name in named})
            if draw(st.booleans()):
                chosen = draw(st.sampled_from(_CHOICES))
                model = chosen.removesuffix("[1m]")
                claude.assistant(text("ok"), model=model, requestedModel=chosen)
        case _:
            claude.leaf = draw(st.sampled_from(claude.uuids))


def _draw_calls(draw: st.DrawFn, claude: ClaudeFile) -> None:
    """Add an answer with parallel calls; each result hangs on the line of its own call."""
    answer_id = f"msg_{len(claude.uuids)}"
    n_calls = draw(st.integers(1, 3))
    ids = [f"toolu_{len(claude.uuids)}_{n}" for n in range(n_calls)]
    lines = [claude.assistant(call(i, command=draw(texts)), answer_id=answer_id) for i in ids]
    for call_id, line in zip(ids, lines, strict=True):
        if draw(st.integers(0, 4)):
            claude.user([result(call_id, draw(texts))], parent=line)
