"""What could be pruned, for a picker in an editor."""

from pi_files import conversation
from running import Place
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config
from ullage.lsp.protocol import PrunableResult
from ullage.lsp.views.window import prunable_result


def prunable(place: Place, chars: int) -> PrunableResult:
    path = place.write("s.jsonl", conversation(8, chars=chars).data)
    places = place.places()
    return prunable_result(load(open_session(path), Config(), places))


def test_what_the_rule_chooses_comes_first_and_is_ticked(place: Place) -> None:
    found = prunable(place, 100_000)
    chosen = [row.isChosen for row in found.rows]
    assert any(chosen)
    assert chosen == sorted(chosen, reverse=True)
    assert " → " in found.headline
    sizes = [row.nTokens for row in found.rows if row.isChosen]
    assert sizes == sorted(sizes, reverse=True)
    assert all(row.title.startswith("read ") and "tokens · " in row.detail for row in found.rows)


def test_where_nothing_is_due_the_reason_is_told(place: Place) -> None:
    found = prunable(place, 600)
    assert found.headline.startswith("Nothing is due: ")
    assert not any(row.isChosen for row in found.rows)


async def test_without_a_session_there_is_nothing_to_prune(editor, place: Place) -> None:
    await editor.start(place.cwd)
    found = await editor.request("ullage/prunable")
    assert (found.session, found.rows) == (None, [])
