"""What a session's messages call secret, listed as they come."""

from pathlib import Path

from factories import numbered, user
from ullage.app.sessions.secrets import SessionSecrets
from ullage.core.transcript.entries import Header
from ullage.store.files.places import Places


def test_the_same_messages_are_looked_through_once(tmp_path: Path) -> None:
    header = Header(agent="openclaw", session_id="s", version=3, cwd=None)
    places = Places(cwd=tmp_path, home=tmp_path, env={}, state_folder=tmp_path)
    secrets = SessionSecrets(header, places)
    items = tuple(numbered([user("DB_PASSWORD=gr33n-Fr0g-77_81")]))
    known = secrets.values_with(items)
    assert known == ("gr33n-Fr0g-77_81",)
    assert secrets.values_with(items) is known
    more = (*items, *numbered([user("API_TOKEN=b1ue-M00n-99_13-xyz")]))
    assert secrets.values_with(more) == ("b1ue-M00n-99_13-xyz", *known)
