"""Ten dreams of one folder at once, each a process: one dreams, the others are told so."""

from datetime import date

from running import WAIT_S, Place
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.core.memory.inbox import read_items
from ullage.core.memory.origin import list_line_digests

N_PROCESSES = 10
SAID = (
    "Always run the tests against PostgreSQL 17 before you push.",
    "We decided to release on Tuesdays from now on.",
    "Never use emoji in code comments.",
)
BUSY = "another dream of this folder is under way: wait for its end"


def test_ten_dreams_at_once_propose_what_one_proposes(place: Place) -> None:
    day = date.today().isoformat()
    log = f"# {day}\n\n" + "".join(f"- {line}\n" for line in SAID)
    place.write(f"memory/{day}.md", log.encode())
    begin_memory(place.cwd, place.places())
    lines = dict.fromkeys(list_line_digests(log), "user")
    record_lines(lines, "a:b", place.cwd, place.places())

    running = [place.start("memory", "dream") for _ in range(N_PROCESSES)]
    done = [(process, *process.communicate(timeout=WAIT_S)) for process in running]

    inbox = (place.cwd / "DREAMS.md").read_text("utf-8")
    assert sorted(item.finding for item in read_items(inbox)) == sorted(SAID)
    told = [out.decode() for process, out, _ in done if process.returncode == 0]
    assert sum(f"{len(SAID)} items added" in out for out in told) == 1
    # Who came when the first was through found nothing new.
    assert sum("Nothing new lasts" in out for out in told) == len(told) - 1
    refused = [(process.returncode, err.decode()) for process, _, err in done if process.returncode]
    assert set(refused) <= {(4, f"ullage: {BUSY}\n")}
    assert len(told) + len(refused) == N_PROCESSES
