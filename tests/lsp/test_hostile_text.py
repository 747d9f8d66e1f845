"""Texts of a session in an editor: no link, no image, no HTML, and nothing hidden by a control."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from language_server import RawClient, raw_client
from pi_files import Json, PiFile, usage_of
from running import Place
from ullage.lsp.convert import escape_markdown

HOSTILE = (
    "[a](command:b) in parser.py [Run](command:workbench.action.terminal.sendSequence?%7B%7D)"
    " <a href='command:x'>Fix</a> ![i](https://a.test/i.png) <img src=https://a.test/j.png>"
    " `` ` &#x202e; <img src=x onerror=alert(1)>"
    " <https://a.test> [r]: command:x \\[y](command:y) | \x1b[2J \x9b31m \u202e tabs \u2066 $(run)"
    " </td></table><script>alert(1)</script> **bold** # end"
)
MARKUP = frozenset(r"`*_{}[]<>()#+!|~$&")
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@given(st.text(st.sampled_from("\\`*_{}[]<>()#+!|~$&a. \n\t\r\x00\x1b\x85\u202e\ud800\u2028")))
def test_an_escaped_text_is_one_line_without_markup(text: str) -> None:
    escaped = escape_markdown(text)
    assert not MARKUP & set(re.sub(r"\\.", "", escaped))
    assert not STEERING.search(escaped)
    assert len(escaped.splitlines()) <= 1
    visible = "".join(re.sub(r"\\(.)", r"\1", escaped).split())
    assert len(visible) == len("".join(text.split()))


def hostile_session(cwd: Path) -> bytes:
    pi = PiFile(cwd=str(cwd))
    pi.entry("session_info", name=HOSTILE)
    for number in range(6):
        pi.user(f"{HOSTILE}\n\n{HOSTILE} Please look at {number}.")
        call = {"type": "toolCall", "id": f"call{number}", "name": HOSTILE}
        call |= {"arguments": {"path": f"{HOSTILE}.py", "command": HOSTILE}}
        said = [{"type": "thinking", "thinking": HOSTILE}, {"type": "text", "text": HOSTILE}, call]
        pi.message("assistant", content=said, model=HOSTILE, usage=usage_of(9000 + number))
        output = [{"type": "text", "text": f"Error: {HOSTILE}\n" * 200}]
        result = {"toolCallId": f"call{number}", "toolName": HOSTILE, "content": output}
        pi.message("toolResult", **result, isError=bool(number % 2))
    kept = {"firstKeptEntryId": pi.leaf, "tokensBefore": 170_000}
    pi.entry("compaction", summary=f"{HOSTILE}\n{HOSTILE}", **kept)
    pi.user(HOSTILE)
    pi.message("assistant", content=[{"type": "text", "text": HOSTILE}], usage=usage_of(160_000))
    return pi.data


async def ask(client: RawClient, method: str, params: object) -> object:
    request_id = f"{method} {params}"
    client.request(request_id, method, params)
    answer = await client.answer(request_id)
    assert "result" in answer, answer
    return answer["result"]


def texts_of(value: object, name: str) -> list[str]:
    """Give every text below a field of this name, however deep it stands."""
    if isinstance(value, list):
        return [text for part in value for text in texts_of(part, name)]
    if not isinstance(value, dict):
        return []
    here = [value[name]] if isinstance(value.get(name), str) else []
    return here + [text for part in value.values() for text in texts_of(part, name)]


async def test_no_markdown_of_a_session_links_or_loads_anything(place: Place) -> None:
    place.let_pi_fill_its_window()
    data = hostile_session(place.cwd)
    folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
    path = place.write(str(place.home / ".pi" / "agent" / "sessions" / folder / "a.jsonl"), data)
    place.write("AGENTS.md", f"# {HOSTILE}\n\n- {HOSTILE}\n".encode())
    place.write("MEMORY.md", f"# {HOSTILE}\n\n- {HOSTILE}\n".encode())
    document = {"textDocument": {"uri": path.as_uri()}}
    session = {"session": str(path)}
    answers: list[object] = []
    async with raw_client(place, folders=(place.cwd,)) as client:
        item = document["textDocument"] | {"languageId": "jsonl", "version": 1, "text": ""}
        client.notify("textDocument/didOpen", {"textDocument": item})
        for name in ("choose", "checkpoint", "pin", "flush", "compact"):
            argument: Json = {**session, **({"text": HOSTILE} if name == "pin" else {})}
            command = {"command": f"ullage.{name}", "arguments": [argument]}
            answers.append(await ask(client, "workspace/executeCommand", command))
        for line in range(data.count(b"\n") + 4):
            hover = document | {"position": {"line": line, "character": 0}}
            answers.append(await ask(client, "textDocument/hover", hover))
        for name in ("sessions", "window", "checkpoints", "history", "memory", "status"):
            answers.append(await ask(client, f"ullage/{name}", session))  # noqa: PERF401
    markdown = texts_of(answers, "value") + texts_of(client.notices + answers, "tooltip")
    assert sum("parser.py" in text.replace("\\", "") for text in markdown) > 20
    for text in markdown:
        shown = re.sub(r"\\.", "", text)
        assert not STEERING.search(text), text
        assert not re.search(r"[<&]|\]\(|!\[", shown), text
    said = [notice for notice in client.notices if "window/" in str(notice["method"])]
    messages = texts_of([said, answers], "message")
    assert not [text for text in messages if "](" in text]
    shown = [texts_of([client.notices, answers], name) for name in ("title", "detail", "label")]
    findings = texts_of(client.notices, "message")
    assert not [text for text in sum(shown, messages + findings) if STEERING.search(text)]


async def test_an_error_names_what_was_asked_for_without_a_link(place: Place) -> None:
    async with raw_client(place) as client:
        client.request(1, "ullage/status", {"session": HOSTILE})
        message = (await client.answer(1))["error"]["message"]
    assert "[a] (command:b) in parser.py" in message
    assert not STEERING.search(message)
