"""What could be pruned, for a picker in an editor."""

import re

from pi_files import PiFile, conversation
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


async def test_an_item_says_when_it_was_is_named_below_the_folder_and_can_be_looked_at(
    editor, place: Place
) -> None:
    pi = PiFile(cwd=str(place.cwd))
    long = f"{place.cwd}/{'deep/' * 30}cart.py"
    for name in (f"{place.cwd}/src/cart.py", long):
        pi.user("look")
        pi.assistant(calls=[(name, "read", {"path": name})], usage=1000)
        pi.result(name, f"all of {name} " * 200, name="read")
    for _ in range(2):
        pi.user("go on")
        pi.assistant("done", usage=2000)
    path = place.write("s.jsonl", pi.data)
    await editor.start(options={"compaction": {"prune": {"protectRecentTokens": 0}}})
    found = await editor.request("ullage/prunable", {"session": str(path)})
    short, cut = sorted((row.title for row in found.rows), key=len)
    assert short == "read src/cart.py"
    assert re.fullmatch(r"read ….*/deep/cart\.py", cut)
    assert all(re.fullmatch(r"[\d,]+ tokens · .* ago · .*", row.detail) for row in found.rows)
    shown = await editor.execute("ullage.show", {"uri": found.rows[0].uri})
    assert shown.text.count("all of ") == 200


async def test_without_a_session_there_is_nothing_to_prune(editor, place: Place) -> None:
    await editor.start(place.cwd)
    found = await editor.request("ullage/prunable")
    assert (found.session, found.rows) == (None, [])
