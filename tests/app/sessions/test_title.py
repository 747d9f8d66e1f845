"""What a session is called: its agent's own title, else what was asked for first."""

from pathlib import Path

import pytest

from claude_files import ClaudeFile, text
from codex_files import CodexFile
from database_files import OPENCODE_SAMPLE, OPENCODE_SAMPLE_ID
from gemini_files import GeminiFile
from pi_files import PiFile
from running import Place
from ullage.app.gauge.status_text import title_text
from ullage.app.sessions import title as title_module
from ullage.app.sessions.follow import read_session
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.app.sessions.title import (
    N_TITLE_LINES,
    TAIL_BYTES,
    UNTITLED,
    name_of,
    overview_of,
    title_of,
)
from ullage.core.config.settings import Config

SHORT_SIDE = "The quick brown fox. " * (TAIL_BYTES // 20)


def write(place: Place, data: bytes) -> Path:
    return place.write("session.jsonl", data)


def title(path: Path) -> str:
    return title_of(open_session(path))


def claude_asked(request: str = "Fix double charges") -> ClaudeFile:
    claude = ClaudeFile()
    claude.user(request)
    claude.assistant(text("Done."))
    return claude


def test_the_strongest_title_of_claude_code_counts_and_of_these_the_last(place: Place) -> None:
    claude = claude_asked()
    assert title(write(place, claude.data)) == "Fix double charges"
    claude.raw({"type": "summary", "summary": "A summary", "leafUuid": claude.leaf})
    assert title(write(place, claude.data)) == "A summary"
    claude.note("ai-title", aiTitle="By the model")
    claude.note("custom-title", customTitle="First name")
    claude.note("custom-title", customTitle="Second name")
    claude.note("ai-title", aiTitle="By the model again")
    assert title(write(place, claude.data)) == "Second name"
    assert name_of(open_session(place.cwd / "session.jsonl")).endswith("Claude Code · 77777777")


def test_a_summary_of_another_session_is_no_title(place: Place) -> None:
    claude = claude_asked()
    other = ClaudeFile()
    other.raw({"type": "summary", "summary": "Another one", "leafUuid": "0000-elsewhere"})
    assert title(write(place, other.data + claude.data)) == "Fix double charges"


def test_a_name_of_pi_counts_wherever_it_stands_until_it_is_cleared(place: Place) -> None:
    pi = PiFile()
    pi.user("Fix double charges")
    pi.entry("session_info", name="Charges")
    pi.assistant(SHORT_SIDE)
    pi.assistant('Say {"type":"session_info","name":"no"}')
    path = write(place, pi.data)
    assert title(path) == "Charges"
    pi.entry("session_info", name="Refunds")
    write(place, pi.data)
    assert title(path) == "Refunds"
    pi.entry("session_info", name="")
    write(place, pi.data)
    assert title(path) == "Fix double charges"


def test_a_title_is_found_wherever_blocks_part_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(title_module, "SEARCH_BLOCK_BYTES", 1)
    pi = PiFile()
    for _ in range(N_TITLE_LINES):
        pi.user("Fix double charges")
    pi.entry("session_info", name="Charges")
    pi.user("Go on.")
    assert title(write(place, pi.data)) == "Charges"


@pytest.mark.parametrize("is_codex", [False, True])
def test_whoever_read_the_session_knows_a_title_however_far_back(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, is_codex: bool
) -> None:
    monkeypatch.setattr(title_module, "SEARCHED_BYTES", 100)
    file, followed = CodexFile() if is_codex else PiFile(), None
    for _ in range(N_TITLE_LINES):
        file.user("Fix double charges")
    for name in ("Charges", "Refunds", ""):
        if isinstance(file, CodexFile):
            file.event("thread_name_updated", thread_name=name)
        else:
            file.entry("session_info", name=name)
        if followed is None:
            add_long_past(file)
        file.user("Go on.")
        path, shown = write(place, file.data), name or "Fix double charges"
        followed = read_session(path, followed, Config(), place.places(), count_nothing)
        for _ in range(2):
            # The second one goes on from what the first one left on the disk.
            title_module._remembered.clear()
            assert (
                title_text(load(open_session(path), Config(), place.places(), count_nothing))
                == shown
            )
        title_module._remembered.clear()
        assert title_text(followed.loaded) == shown
        title_module._remembered.clear()
        assert title(path) == "Fix double charges", "nobody read it"


def add_long_past(file: CodexFile | PiFile) -> None:
    """Add a megabyte, as less is read again each time, and a compaction that ends the reading."""
    for _ in range(20):
        file.user(SHORT_SIDE)
    file.assistant("Done.")
    if isinstance(file, CodexFile):
        file.turn()
        file.compact("So far.")
    else:
        file.compaction("So far.", file.user("Go on."))
    file.assistant("Done.")


def count_nothing(text: str, encoding: str) -> int:
    del text, encoding
    return 0


def test_other_agents_titles(place: Place) -> None:
    codex, gemini = CodexFile(), GeminiFile()
    codex.user("<environment_context>cwd</environment_context>")
    codex.user("Fix double charges")
    assert title(write(place, codex.data)) == "Fix double charges"
    codex.event("thread_name_updated", thread_name="Charges")
    assert title(write(place, codex.data)) == "Charges"
    gemini.user("<session_context>This is the Gemini CLI.</session_context>")
    gemini.user("Fix double charges")
    gemini.model("Done.")
    assert title(write(place, gemini.data)) == "Fix double charges"
    assert title(write(place, gemini.document)) == "Fix double charges"
    gemini.set(summary="Charges")
    assert title(write(place, gemini.data)) == "Charges"
    opencode = open_session(OPENCODE_SAMPLE, OPENCODE_SAMPLE_ID)
    assert title_of(opencode) != UNTITLED


@pytest.mark.parametrize(
    "injected",
    [
        "<command-name>/clear</command-name><command-args></command-args>",
        "[Request interrupted by user]",
        "<local-command-stdout>done</local-command-stdout>",
        "<command-name>/mode</command-name>\n<command-message>mode</command-message>",
    ],
)
def test_what_no_person_asked_for_is_no_title(place: Place, injected: str) -> None:
    claude = ClaudeFile()
    claude.user(injected)
    claude.user("A hook said something", isMeta=True)
    claude.user("Fix double charges")
    assert title(write(place, claude.data)) == "Fix double charges"


def test_what_was_typed_behind_a_command_is_a_title(place: Place) -> None:
    args = "<command-name>/plan</command-name><command-args>Fix double charges</command-args>"
    assert title(write(place, claude_asked(args).data)) == "Fix double charges"


def test_a_title_is_one_line_of_some_length_without_secrets(place: Place) -> None:
    key = "sk-ant-api03-" + "a1B2" * 24
    shown = title(write(place, claude_asked(f"Use\n{key}\nand go on " + "x" * 500).data))
    assert "\n" not in shown
    assert "a1B2" not in shown
    assert len(shown) < 200


def test_the_first_request_is_found_though_a_compaction_hid_it(place: Place) -> None:
    pi = PiFile()
    first = pi.user("Fix double charges")
    pi.assistant("Done.")
    pi.compaction("What was done.", None)
    pi.user("Go on.")
    assert first
    assert title(write(place, pi.data)) == "Fix double charges"


def test_a_session_that_grows_is_called_as_one_read_anew(place: Place) -> None:
    claude = claude_asked()
    path = write(place, claude.data)
    assert title(path) == "Fix double charges"
    claude.note("custom-title", customTitle="Charges")
    write(place, claude.data)
    assert title(path) == "Charges"
    claude.note("ai-title", aiTitle="By the model")
    write(place, claude.data)
    assert title(path) == "Charges"
    claude.assistant(text(SHORT_SIDE))
    write(place, claude.data)
    # It stands far from the end now, and was seen when it was written.
    assert title(path) == "Charges"


def test_who_opened_a_session_before_it_grew_calls_it_the_same(place: Place) -> None:
    claude = claude_asked("Take the first steps")
    for _ in range(N_TITLE_LINES):
        claude.assistant(text("Done."))
    claude.note("custom-title", customTitle="Fix double charges")
    assert title(write(place, claude.data)) == "Fix double charges"
    claude.user(SHORT_SIDE)
    early = open_session(write(place, claude.data))
    claude.user(SHORT_SIDE)
    path = early.path
    with path.open("ab") as file:
        file.write(claude.data[early.lines.size_bytes :])
    assert title(path) == "Fix double charges"
    assert title_of(early) == "Fix double charges"
    assert title(path) == "Fix double charges"


def test_a_file_without_a_message_is_no_session_and_has_no_title(place: Place) -> None:
    gemini = GeminiFile()
    gemini.user("<session_context>This is the Gemini CLI.</session_context>")
    session = open_session(write(place, gemini.data))
    assert not overview_of(session).has_messages
    assert title_of(session) == UNTITLED
