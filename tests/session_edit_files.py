"""Random sessions of Claude Code and Codex, and what the agents append when they go on.

Unlike the strategies beside `ClaudeFile` and `CodexFile` these take a `random.Random`: a
session costs well under a millisecond, so that a test may look at thousands of them.
"""

from random import Random

from claude_files import ClaudeFile, call, result, text, thinking
from codex_files import CodexFile, message, usage_of
from pi_files import Json
from ullage.core.transcript.context import Context

WORDS = ("parcel", "depot", "é\u2028", "\ud83d\ude9a", "route", "")
PIXEL = "iVBORw0KGgo="


def random_claude(random: Random) -> bytes:
    claude = ClaudeFile(ending=random.choice(["\n", "\n", "\n", "\r\n"]))
    if random.random() < 0.5:
        claude.note()
    claude.user(_words(random))
    recent = [claude.uuids[-1]]
    for number in range(random.randint(1, 10)):
        _add_claude_step(claude, random, number, recent)
    if random.random() < 0.2:
        claude.raw(b'{"type":"user","uuid":"torn')
    elif random.random() < 0.2:
        claude.lines[-1] = claude.lines[-1].rstrip(b"\r\n")
    return claude.data


def _add_claude_step(claude: ClaudeFile, random: Random, number: int, recent: list[str]) -> None:
    before = len(claude.uuids)
    match random.randint(0, 12):
        case 0 | 1:
            claude.user(_words(random), isMeta=random.random() < 0.2)
        case 2:
            claude.user([_claude_image(), text(_words(random))])
        case 3:
            claude.assistant(thinking(_words(random)), text("so"), usage=random.randint(1, 10**5))
        case 4 | 5 | 6 | 7:
            _add_claude_calls(claude, random, number)
        case 8:
            claude.assistant(text("error"), model="<synthetic>", isApiErrorMessage=True, usage=0)
            aside: Json = {"role": "user", "content": _words(random)}
            claude.record("user", sidechain=True, message=aside)
        case 9:
            claude.attachment(_words(random))
            claude.record("system", subtype="stop_hook_summary", content="hook")
            claude.record("attachment", attachment={"type": "prompt_snapshot"})
        case 10:
            claude.note("custom-title", customTitle=_words(random))
            claude.note("from-2031", leafUuid=claude.leaf)
            replaced = [{"kind": "tool-result", "toolUseId": f"t{number}_0", "replacement": "x"}]
            claude.note("content-replacement", replacements=replaced)
            claude.raw(random.choice([b"\n", b"\r\n", b"\0\0\0\n", b"{half\n"]))
        case 11:
            claude.boundary(preserved=recent[-random.randint(0, 1) :][-1:], n_after=50)
            claude.summary(f"Agent's summary {number}.")
            recent.clear()
        case _:
            claude.leaf = random.choice(recent) if recent else claude.leaf
    recent += claude.uuids[before:][-1:] if claude.leaf == claude.uuids[-1] else []


def _add_claude_calls(claude: ClaudeFile, random: Random, number: int) -> None:
    """Add an answer whose calls stand on lines of their own, some never answered."""
    ids = [f"t{number}_{n}" for n in range(random.randint(1, 3))]
    answer_id = f"msg_calls_{number}"
    usage = random.randint(1, 10**5)
    if random.random() < 0.5:
        claude.assistant(thinking("hm"), answer_id=answer_id, usage=usage)
    name = random.choice(["Bash", "Read"])
    lines = [claude.assistant(call(i, name), answer_id=answer_id, usage=usage) for i in ids]
    answered = list(zip(ids, lines, strict=True))
    random.shuffle(answered)
    is_killed = random.random() < 0.1
    for call_id, line in answered[1:] if is_killed else answered:
        output: object = _words(random)
        if random.random() < 0.3:
            output = [text(_words(random)), _claude_image()]
        if random.random() < 0.2:
            claude.attachment("between")
        claude.user([result(call_id, output)], parent=line, toolUseResult={"stdout": "x"})
    if random.random() < 0.1:
        ids = [call_id for call_id, _ in answered]
        metadata = {"compactedToolIds": ids[:1]}
        claude.record("system", subtype="microcompact_boundary", microcompactMetadata=metadata)


def _claude_image() -> Json:
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
    }


def continued_claude(context: Context, session_id: str) -> bytes:
    """Go on as a resumed Claude Code does: after what was preserved, where nothing followed."""
    claude = ClaudeFile(session_id=session_id)
    claude.uuids = ["earlier"] * (1_000 + int(session_id[:3], 16))
    last = context.items[-1]
    claude.leaf = context.leaf_id if last.is_after_boundary else last.entry_id
    claude.user("and now?")
    claude.assistant(thinking("well"), text("this"), usage=777)
    return claude.data


def compacted_claude(context: Context, session_id: str) -> bytes:
    """Compact as Claude Code does by itself."""
    claude = ClaudeFile(session_id=session_id)
    claude.uuids = ["earlier"] * (10_000 + int(session_id[:3], 16))
    claude.leaf = context.leaf_id
    claude.boundary(n_after=60)
    claude.summary("The agent's own.")
    claude.attachment("announced anew")
    claude.user("go on")
    return claude.data


def random_codex(random: Random) -> bytes:
    codex = CodexFile()
    if random.random() < 0.7:
        codex.turn()
    for number in range(random.randint(1, 12)):
        _add_codex_step(codex, random, number)
    if random.random() < 0.2:
        codex.raw(b'{"timestamp":"2026-11-21T02:0')
    elif random.random() < 0.2:
        codex.lines[-1] = codex.lines[-1].rstrip(b"\r\n")
    if random.random() < 0.3:
        return b"".join(
            line.replace(b'"type"', f'"ordinal":{n},"type"'.encode(), 1)
            for n, line in enumerate(codex.lines)
        )
    return codex.data


def _add_codex_step(codex: CodexFile, random: Random, number: int) -> None:
    n_total = random.choice([None, random.randint(10, 10**5)])
    match random.randint(0, 10):
        case 0 | 1:
            codex.turn(random.choice(("gpt-5.5", "o3")))
            codex.user(_words(random))
        case 2:
            codex.item(message("user", "see") | {"content": [_codex_image()]})
        case 3:
            codex.item({"type": "reasoning", "summary": [], "encrypted_content": "c2Vj"})
            codex.assistant(_words(random), n_total=n_total)
        case 4 | 5 | 6:
            _add_codex_calls(codex, random, n_total)
        case 7:
            codex.compact(f"Agent's summary {number}.", "kept", is_legacy=random.random() < 0.3)
            if random.random() < 0.5:
                codex.estimate(random.randint(1, 99))
        case 8:
            codex.line("world_state", {"full": True})
            codex.line("token_usage_record", {"thread_id": "x"})
            codex.item({"type": "ghost_snapshot", "ghost_commit": {}})
            codex.raw(random.choice([b"\n", b"{half\n", b'{"type":"from-2031"}\n']))
        case 9:
            codex.roll_back(random.randint(0, 2))
        case _:
            codex.item(message("developer", "<permissions instructions>"))


def _add_codex_calls(codex: CodexFile, random: Random, n_total: int | None) -> None:
    """Add an answer with calls side by side, some never answered, and the usage behind them."""
    if random.random() < 0.5:
        codex.item({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]})
    ids: list[str] = []
    for _ in range(random.randint(1, 3)):
        codex.n_calls += 1
        ids.append(f"call_{codex.n_calls}")
        codex.item(
            {"type": "custom_tool_call", "name": "apply_patch", "input": "x", "call_id": ids[-1]}
            if random.random() < 0.3
            else {"type": "function_call", "name": "ls", "arguments": "{}", "call_id": ids[-1]}
        )
    random.shuffle(ids)
    for call_id in ids[1:] if random.random() < 0.1 else ids:
        output: object = _words(random)
        if random.random() < 0.3:
            output = [{"type": "input_text", "text": "seen"}, _codex_image()]
        elif random.random() < 0.2:
            output = {"content": _words(random), "success": True}
        codex.item({"type": "function_call_output", "call_id": call_id, "output": output})
    if n_total is not None:
        codex.tokens(usage_of(n_total))


def _codex_image() -> Json:
    return {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}


def continued_codex(context: Context, session_id: str) -> bytes:
    del context, session_id
    codex = CodexFile()
    codex.lines.clear()
    codex.user("and now?")
    codex.assistant("this", n_total=777)
    return codex.data


def compacted_codex(context: Context, session_id: str) -> bytes:
    """Compact as Codex 0.169 does: the answer that the summary is taken from comes first."""
    del context, session_id
    codex = CodexFile()
    codex.lines.clear()
    codex.item({"type": "reasoning", "summary": [], "encrypted_content": "c2Vj"})
    codex.assistant("The agent's own.", n_total=888)
    codex.compact("Prefix of Codex.\nThe agent's own.", "kept by the agent")
    codex.estimate(60)
    codex.user("go on")
    return codex.data


def _words(random: Random) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(1, 4)))
