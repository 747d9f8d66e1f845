"""Who runs programs by the clock on this machine, and the user's crontab."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ullage.errors import StorageError
from ullage.store.files.places import Places
from ullage.store.files.programs import ProgramAnswer, run_program

Scheduler: TypeAlias = Literal["systemd", "crontab", "schtasks"]
TIMEOUT_S = 30.0
"""All answer within a second; a machine that is busy takes longer (chosen)."""


def find_scheduler(places: Places) -> Scheduler:
    """Find who is to run a schedule.

    Raises:
        StorageError: there is nobody.
    """
    if has_task_scheduler(places):
        return "schtasks"
    if answers(("systemctl", "--user", "show", "--property=Version"), places):
        return "systemd"
    if _ask(("crontab", "-l"), places) is not None:
        return "crontab"
    raise StorageError(
        "nobody runs programs by the clock here: no systemd of yours answers, and there is no"
        " `crontab`. Install cron, or have `ullage memory dream --due` run by other means"
    )


def has_task_scheduler(places: Places) -> bool:
    """Whether Windows runs programs by the clock here."""
    return answers(("schtasks", "/?"), places)


def answers(command: Sequence[str], places: Places) -> bool:
    """Whether there is such a program and it says yes."""
    answer = _ask(command, places)
    return answer is not None and answer.exit_code == 0


def run_scheduler(command: Sequence[str], places: Places, data: bytes = b"") -> None:
    """Run a program that has to do it.

    Raises:
        StorageError: it is not there, or it does not do it.
    """
    answer = _ask(command, places, data)
    if answer is None or answer.exit_code:
        raise _failed(command, answer)


def read_crontab(places: Places) -> bytes | None:
    """Read the user's crontab; None where there is none, or no program for it.

    Raises:
        StorageError: it cannot be read.
    """
    answer = _ask(("crontab", "-l"), places)
    if answer is None:
        return None
    if answer.exit_code == 0:
        return answer.output
    # The second is how BusyBox says it.
    if b"no crontab for" in answer.errors or b"No such file" in answer.errors:
        return None
    raise _failed(("crontab", "-l"), answer)


def write_crontab(crontab: bytes, places: Places) -> None:
    """Replace the user's crontab; an empty one goes.

    Raises:
        StorageError: it is refused.
    """
    if crontab:
        run_scheduler(("crontab", "-"), places, crontab)
    else:
        run_scheduler(("crontab", "-r"), places)


def _ask(command: Sequence[str], places: Places, data: bytes = b"") -> ProgramAnswer | None:
    variables = places.env | {"LC_ALL": "C"}
    return run_program(
        command, places, folder=places.cwd, timeout_s=TIMEOUT_S, data=data, variables=variables
    )


def _failed(command: Sequence[str], answer: ProgramAnswer | None) -> StorageError:
    words = "" if answer is None else answer.errors.decode("utf-8", "replace").strip()
    reason = words.partition("\n")[0] or "it is not there, or does not answer"
    return StorageError(f"`{' '.join(command)}` failed: {reason}. Mend that, then try again")
