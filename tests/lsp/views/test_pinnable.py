"""Which messages can be pinned, for a picker in an editor."""

import re

from pi_files import PiFile
from running import Place
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.app.summary.pins import pin_entry
from ullage.core.config.settings import Config
from ullage.core.facts.pins import MAX_PIN_CHARS
from ullage.lsp.protocol import PinnableResult
from ullage.lsp.views.pins import pinnable_result

SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"


def of_rules(n_rules: int) -> PiFile:
    """A session in which each short rule is followed by a long one, an answer and a result."""
    pi = PiFile()
    for n in range(n_rules):
        pi.user(f"Rule {n}.")
        pi.user(f"Log {n}: " + "x" * MAX_PIN_CHARS)
        pi.assistant(f"I read file {n}.", calls=[(f"c{n}", "read", {"path": f"{n}.ts"})])
        pi.result(f"c{n}", f"Text of file {n}.", name="read")
    return pi


def pinnable(place: Place, pi: PiFile) -> PinnableResult:
    path = place.write("s.jsonl", pi.data)
    return pinnable_result(load(open_session(path), Config(), place.places()))


def test_every_message_is_offered_that_a_pin_takes_the_users_first_the_newest_first(
    place: Place,
) -> None:
    found = pinnable(place, of_rules(25))
    users, others = found.rows[:25], found.rows[25:]
    assert [row.title for row in users] == [f"Rule {n}." for n in reversed(range(25))]
    assert [row.title for row in others[:2]] == ["Text of file 24.", "I read file 24."]
    assert len(others) == 50
    assert re.fullmatch(r"User · \d tokens · .* ago", users[0].detail)
    assert others[0].detail.startswith("Tool results · ")
    places, session = place.places(), open_session(place.cwd / "s.jsonl")
    for row in found.rows:
        pin_entry(session, row.entry, places, by="editor")


def test_no_secret_is_shown_and_what_is_hidden_is_not_told(place: Place) -> None:
    pi = PiFile()
    pi.user(f"Log in with {SECRET}")
    pi.entry("custom_message", customType="note", content="not for its user", display=False)
    told = repr(pinnable(place, pi))
    assert "Log in with" in told
    assert "(hidden)" in told
    assert SECRET[:20] not in told
    assert "not for its user" not in told


async def test_what_is_pinned_is_not_offered_again(editor, place: Place) -> None:
    path = str(place.write("s.jsonl", of_rules(2).data))
    await editor.start()
    before = await editor.request("ullage/pinnable", {"session": path})
    assert before.session.path == path
    await editor.execute("ullage.pin", {"session": path, "entry": before.rows[1].entry})
    after = await editor.request("ullage/pinnable", {"session": path})
    assert [row.title for row in before.rows[:2]] == ["Rule 1.", "Rule 0."]
    assert [row.title for row in after.rows[:2]] == ["Rule 1.", "Text of file 1."]


async def test_without_a_session_no_message_can_be_pinned(editor, place: Place) -> None:
    await editor.start(place.cwd)
    found = await editor.request("ullage/pinnable")
    assert (found.session, found.rows) == (None, [])
