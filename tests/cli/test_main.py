"""A program that was started without a console, as a task of Windows is by pythonw.exe."""

from datetime import date

import pytest

from running import Place
from ullage.store.memory.dream_state import LOG_NAME
from ullage.store.memory.places import memory_folder

WITHOUT_STREAMS = """
import sys
sys.stdin = sys.stdout = sys.stderr = None
from ullage.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("args", "exit_code"),
    [(("--version",), 0), (("memory", "dream", "--due"), 0), (("memory", "nonsense"), 2)],
    ids=str,
)
def test_without_streams_a_command_does_what_it_is_to_do(
    place: Place, args: tuple[str, ...], exit_code: int
) -> None:
    done = place.run_process(*args, program=("-c", WITHOUT_STREAMS))
    assert done == (exit_code, "", "")


def test_without_streams_a_dream_is_dreamt(place: Place) -> None:
    (place.cwd / "memory").mkdir()
    (place.cwd / "memory" / f"{date.today()}.md").write_text("- We deploy on Mondays.\n", "utf-8")
    done = place.run_process("memory", "dream", "--due", program=("-c", WITHOUT_STREAMS))
    assert done == (0, "", "")
    assert (memory_folder(place.cwd, place.places()) / LOG_NAME).is_file()
