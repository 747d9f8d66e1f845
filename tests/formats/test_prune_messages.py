"""Placeholders in messages of each agent: the place it reads them from, and nothing else."""

import pytest

from pi_files import Json
from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.formats.agents.claude_code.messages import prune_message as prune_claude
from ullage.formats.agents.codex.messages import prune_message as prune_codex
from ullage.formats.agents.gemini.messages import prune_message as prune_gemini
from ullage.formats.agents.opencode.messages import prune_message as prune_opencode
from ullage.formats.openai_chat import prune_message as prune_chat
from ullage.formats.registry import AGENTS

OUTPUT = Replacement(entry_id="e", what="output", call_id="c1")
RESULT_IMAGES = Replacement(entry_id="e", what="images", call_id="c1")
IMAGES = Replacement(entry_id="e", what="images", call_id=None)
PIXEL = "iVBORw0KGgo="


def claude_result(content: object, call_id: str = "c1") -> Json:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {"role": "user", "content": [block]}


def codex_result(output: object) -> Json:
    return {"type": "function_call_output", "call_id": "c1", "output": output}


def chat_result(content: object) -> Json:
    return {"role": "tool", "tool_call_id": "c1", "content": content, "later": 1}


def gemini_result(response: Json, **fields: object) -> Json:
    answered = {"id": "c1", "name": "ls", "response": response, **fields}
    return {"role": "user", "parts": [{"functionResponse": answered}]}


def opencode_result(**state: object) -> Json:
    return {"info": {"id": "m"}, "parts": [{"type": "tool", "callID": "c1", "state": state}]}


CLAUDE_IMAGE = {"type": "image", "source": {"data": PIXEL}}
CLAUDE_TEXT = {"type": "text", "text": PRUNED_IMAGE}
CODEX_IMAGE = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
CODEX_TEXT = {"type": "input_text", "text": PRUNED_IMAGE}
CHAT_IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
CHAT_TEXT = {"type": "text", "text": PRUNED_IMAGE}
GEMINI_IMAGE = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
FILE = {"type": "file", "id": "p1", "mime": "image/png", "url": f"data:image/png;base64,{PIXEL}"}


@pytest.mark.parametrize(
    ("prune", "native", "replacement", "expected"),
    [
        (prune_claude, claude_result("long"), OUTPUT, claude_result(PRUNED_OUTPUT)),
        (
            prune_claude,
            claude_result([CLAUDE_IMAGE]),
            OUTPUT,
            claude_result([{"type": "text", "text": PRUNED_OUTPUT}]),
        ),
        (
            prune_claude,
            claude_result([CLAUDE_IMAGE]),
            RESULT_IMAGES,
            claude_result([CLAUDE_TEXT]),
        ),
        (
            prune_claude,
            {"role": "user", "content": [CLAUDE_IMAGE, {"type": "text", "text": "see"}]},
            IMAGES,
            {"role": "user", "content": [CLAUDE_TEXT, {"type": "text", "text": "see"}]},
        ),
        (prune_codex, codex_result("long"), OUTPUT, codex_result(PRUNED_OUTPUT)),
        (
            prune_codex,
            codex_result([CODEX_IMAGE]),
            OUTPUT,
            codex_result([{"type": "input_text", "text": PRUNED_OUTPUT}]),
        ),
        (prune_codex, codex_result([CODEX_IMAGE]), RESULT_IMAGES, codex_result([CODEX_TEXT])),
        (
            prune_codex,
            codex_result({"content": [CODEX_IMAGE], "success": False}),
            OUTPUT,
            codex_result({"content": PRUNED_OUTPUT, "success": False}),
        ),
        (
            prune_codex,
            {"type": "message", "role": "user", "content": [CODEX_IMAGE]},
            IMAGES,
            {"type": "message", "role": "user", "content": [CODEX_TEXT]},
        ),
        (prune_chat, chat_result("long"), OUTPUT, chat_result(PRUNED_OUTPUT)),
        (
            prune_chat,
            chat_result([CHAT_IMAGE]),
            OUTPUT,
            chat_result([{"type": "text", "text": PRUNED_OUTPUT}]),
        ),
        (prune_chat, chat_result([CHAT_IMAGE]), RESULT_IMAGES, chat_result([CHAT_TEXT])),
        (
            prune_chat,
            {"role": "user", "content": [CHAT_IMAGE, {"type": "later"}]},
            IMAGES,
            {"role": "user", "content": [CHAT_TEXT, {"type": "later"}]},
        ),
        (
            prune_gemini,
            gemini_result({"output": "long"}, parts=[GEMINI_IMAGE]),
            OUTPUT,
            gemini_result({"output": PRUNED_OUTPUT}),
        ),
        (
            prune_gemini,
            gemini_result({"error": "long"}),
            OUTPUT,
            gemini_result({"error": PRUNED_OUTPUT}),
        ),
        (
            prune_gemini,
            gemini_result({"output": "kept"}, parts=[GEMINI_IMAGE]),
            RESULT_IMAGES,
            gemini_result({"output": "kept"}, parts=[{"text": PRUNED_IMAGE}]),
        ),
        (
            prune_gemini,
            {"role": "user", "parts": [GEMINI_IMAGE]},
            IMAGES,
            {"role": "user", "parts": [{"text": PRUNED_IMAGE}]},
        ),
        (
            prune_opencode,
            opencode_result(status="completed", output="long", attachments=[FILE]),
            OUTPUT,
            opencode_result(status="completed", output=PRUNED_OUTPUT, attachments=[]),
        ),
        (
            prune_opencode,
            opencode_result(status="error", error="long", metadata={"output": "half"}),
            OUTPUT,
            opencode_result(
                status="error", error=PRUNED_OUTPUT, metadata={"output": PRUNED_OUTPUT}
            ),
        ),
        (
            prune_opencode,
            opencode_result(status="completed", output="kept", attachments=[FILE]),
            RESULT_IMAGES,
            opencode_result(
                status="completed", output=f"kept\n{PRUNED_IMAGE}", attachments=[]
            ),
        ),
        (
            prune_opencode,
            {"info": {}, "parts": [FILE]},
            IMAGES,
            {"info": {}, "parts": [{"id": "p1", "type": "text", "text": PRUNED_IMAGE}]},
        ),
    ],
)  # fmt: skip
def test_a_placeholder_stands_where_the_agent_reads_the_output(
    prune, native: Json, replacement: Replacement, expected: Json
) -> None:
    before = repr(native)
    assert prune(native, [replacement]) == expected
    assert repr(native) == before, "the message itself is not touched"


@pytest.mark.parametrize(
    ("prune", "native"),
    [
        (prune_claude, claude_result("long")),
        (prune_claude, {"role": "user", "content": "text"}),
        (prune_codex, codex_result("long")),
        (prune_chat, chat_result("long")),
        (prune_chat, {"role": "assistant", "content": None, "refusal": "No."}),
        (prune_gemini, gemini_result({"output": "long"})),
        (prune_opencode, opencode_result(status="completed", output="long")),
    ],
)
def test_a_message_that_is_not_meant_stays_the_same_object(prune, native: Json) -> None:
    other = Replacement(entry_id="e", what="output", call_id="c2")
    assert prune(native, [other, IMAGES]) is native


def test_every_format_prunes_in_memory() -> None:
    assert all(format_.prune_message({}, []) == {} for format_ in AGENTS)
