"""`ullage.dream`: what lasts is proposed when a person asks for it."""

from datetime import date

from running import Place
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.core.memory.origin import digest_line

SAID = (
    "Always run the tests against PostgreSQL 17 before you push.",
    "We decided to release on Tuesdays from now on.",
)


def write_log(place: Place, *lines: str) -> None:
    day = date.today().isoformat()
    text = f"# {day}\n\n" + "".join(f"- {line}\n" for line in lines)
    place.write(f"memory/{day}.md", text.encode())
    begin_memory(place.cwd, place.places())
    record_lines({digest_line(line): "user" for line in lines}, "s", place.cwd, place.places())


async def test_what_lasts_waits_in_the_inbox_and_does_not_come_twice(editor, place: Place) -> None:
    write_log(place, *SAID, "Fixed the typo in the header.")
    await editor.start(place.cwd)
    done = await editor.execute("ullage.dream", {})
    assert (done.outcome, done.message) == ("done", "2 items wait in DREAMS.md")
    assert done.uri == (place.cwd / "DREAMS.md").as_uri()
    await editor.changed("memory")
    again = await editor.execute("ullage.dream", {"path": str(place.cwd / "DREAMS.md")})
    assert (again.outcome, again.message) == (
        "nothing",
        "Nothing new lasts: nothing was proposed",
    )
    assert not (place.cwd / "MEMORY.md").exists()


async def test_what_does_not_last_makes_no_inbox(editor, place: Place) -> None:
    write_log(place, "Fixed the typo in the header.")
    await editor.start(place.cwd)
    assert (await editor.execute("ullage.dream", {})).outcome == "nothing"
    assert not (place.cwd / "DREAMS.md").exists()


async def test_of_several_folders_each_dreams_of_its_own_logs(editor, place: Place) -> None:
    other = place.root / "work" / "bank"
    other.mkdir()
    write_log(place, *SAID)
    await editor.start(place.cwd, other)
    done = await editor.execute("ullage.dream", {})
    assert done.message == "2 items wait in DREAMS.md"
    assert not (other / "DREAMS.md").exists()
