"""The title of a session, wherever it goes: without what the session calls secret later."""

from claude_files import ClaudeFile, text
from running import Place
from ullage.app.gauge.status_line import leave_snapshot
from ullage.app.gauge.status_text import name_text, title_text
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config

SECRET = "gr33n-Fr0g-77"


def test_a_title_has_nothing_that_a_message_calls_secret(place: Place) -> None:
    file = ClaudeFile(cwd=str(place.cwd))
    for prompt in (f"Connect with {SECRET} now", f"password: {SECRET}"):
        file.user(prompt)
        file.assistant(text("Done."), usage=1000)
    places = place.places()
    loaded = load(open_session(place.write("claude.jsonl", file.data)), Config(), places)
    leave_snapshot(loaded, places)
    files = [path for path in places.state_folder.rglob("*") if path.is_file()]
    told = [title_text(loaded), name_text(loaded), *(path.read_text("utf-8") for path in files)]
    assert any("Connect with [REDACTED:" in kept for kept in told[2:])
    assert not any(SECRET in kept for kept in told)
