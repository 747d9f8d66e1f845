"""What a session's messages call secret, listed as they come."""

from pathlib import Path

from factories import numbered, user
from ullage.app.sessions.secrets import SessionSecrets
from ullage.core.secrets.scan import MAX_KNOWN
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


def test_what_a_session_names_drives_none_of_the_environment_out(tmp_path: Path) -> None:
    header = Header(agent="openclaw", session_id="s", version=3, cwd=None)
    own = "tr0ub4dor+7x"
    places = Places(cwd=tmp_path, home=tmp_path, env={"DB_PASSWORD": own}, state_folder=tmp_path)
    named = "\n".join(f"DB_PASSWORD=gr33n-Fr0g-77_81-{n:04}" for n in range(MAX_KNOWN + 100))
    values = SessionSecrets(header, places).values_with(tuple(numbered([user(named)])))
    assert own in values
    assert len(values) == MAX_KNOWN + 1
