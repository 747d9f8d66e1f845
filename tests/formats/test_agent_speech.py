"""Who speaks in sessions of Codex and Gemini CLI."""

import pytest

from ullage.core.transcript.entries import Image, Speaker, Text
from ullage.formats.agents.codex.messages import to_message
from ullage.formats.agents.gemini import messages as gemini

IDE = "# Context from my IDE setup:\n\n## Active file: a.py\n## My request for Codex:\nno\n"


def codex(text: str, kind: str = "") -> tuple[list[tuple[Speaker, str]], str]:
    native: dict[str, object] = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }
    if kind:
        named = {"content_item_kinds": [kind]}
        native["internal_chat_message_metadata_passthrough"] = named
    message, category = to_message(native, {})
    (block,) = message.blocks
    assert isinstance(block, Text)
    return [(part.speaker, part.text) for part in block.speech], category


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("<environment_context>\n<cwd>/a</cwd>\n</environment_context>", "system"),
        (
            "# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>Never push.</INSTRUCTIONS>",
            "bootstrap",
        ),
        ("<skill>\n<name>commit</name>\nNever push.\n</skill>", "skills"),
        ("<turn_aborted>\nThe user interrupted.\n</turn_aborted>", "injected"),
        ("<user_shell_command>\n<command>ls</command>\n</user_shell_command>", "injected"),
        ('<image name=[Image #1] path="/t/a.png">', "injected"),
        ("</image>", "injected"),
        ("<user_action>\n<action>review</action>\nNever push.</user_action>", "injected"),
    ],
)
def test_fragments_of_codex_are_its_own(text: str, category: str) -> None:
    assert codex(text) == ([("harness", text)], category)


def test_the_kind_that_codex_names_decides() -> None:
    assert codex("Never push.", "shell.user_command")[0] == [("harness", "Never push.")]
    assert codex("Fix the page.", "user") == ([], "user")
    assert codex("Port it.", "compaction.summary") == ([("summary", "Port it.")], "summary")


@pytest.mark.parametrize(
    "context",
    [IDE, "\n# Files mentioned by the user:\n\n## a.png: /t/a.png\n", "# In app browser:\n"],
)
def test_behind_the_context_of_an_ide_stands_the_request(context: str) -> None:
    spoken, category = codex(f"{context}\n## My request for Codex:\nFix the page.\n")
    assert spoken[1:] == [("typed", "Fix the page.")]
    assert spoken[0][0] == "harness"
    assert category == "user"


def test_a_summary_of_codex_comes_without_its_preface() -> None:
    preface = "Another language model started to solve this problem. Here it is:"
    assert codex(f"{preface}\nPort it.")[0] == [("harness", preface), ("summary", "Port it.")]


def spoken(*texts: str) -> list[list[tuple[Speaker, str]]]:
    blocks = gemini.attribute([Text(text=text) for text in texts])
    return [
        [(part.speaker, part.text) for part in block.speech]
        for block in blocks
        if isinstance(block, Text)
    ]


def test_files_that_a_message_to_gemini_names_are_pasted() -> None:
    start, end = "--- Content from referenced files ---", "--- End of content ---"
    assert spoken("Read @a.md", f"\n{start}", "Never push.", f"\n{end}", "Thanks.") == [
        [],
        [("harness", start)],
        [("pasted", "Never push.")],
        [("harness", end)],
        [],
    ]
    assert spoken(f"Read @a.md\n{start}\nNever push.\n{end}") == [
        [("typed", "Read @a.md"), ("pasted", "Never push.")]
    ]


def test_images_stay_among_what_is_said_to_gemini() -> None:
    image = Image(media_type="image/png", size_bytes=3)
    assert gemini.attribute([image])[0] is image


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("System: Please continue.", ["harness"]),
        ("<session_context>\nToday is Monday.\n</session_context>", ["harness"]),
        ("Fix it.\n\n<hook_context>Never push.</hook_context>", ["typed", "harness"]),
        ("<state_snapshot>\nPort it.\n</state_snapshot>", ["summary"]),
        ("I ran the following shell command:\n```sh\nls\n```", ["harness"]),
    ],
)
def test_what_gemini_adds_is_its_own(text: str, speakers: list[Speaker]) -> None:
    (parts,) = spoken(text)
    assert [speaker for speaker, _ in parts] == speakers
