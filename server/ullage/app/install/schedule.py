"""Have a folder looked after by the clock: planned, shown, made when agreed, taken back."""

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ullage.app.config.load import refuse_read_only, refuse_without_memory
from ullage.app.install.text import (
    CONTEXT_LINES,
    WIDTH,
    InstallStateReport,
    PlanReport,
    diff_lines,
    report_file,
    shorten_path,
)
from ullage.core.config.settings import Config
from ullage.core.install import schedule as texts
from ullage.core.install.schedule import PERIOD_MINUTES, Schedule
from ullage.errors import Refused, StorageError, Unreadable
from ullage.store.files.places import Places, folder_name, is_project
from ullage.store.files.programs import interpreter
from ullage.store.install import scheduler
from ullage.store.install.agent_files import AgentFile, FileChange, make_changes, read_agent_file

SCHEDULE = "schedule"
"""What the commands call it, in the place of an agent."""
_SYSTEMCTL = ("systemctl", "--user")
_CRONTAB = Path("crontab")
_LINGER = (
    "It runs while you are logged in; `loginctl enable-linger` lets it run at other times too."
)


class SchedulePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What changes for a folder to be looked after, or no longer."""

    schedule: Schedule
    is_removal: bool
    commands_before: tuple[tuple[str, ...], ...] = ()
    files: tuple[FileChange, ...] = ()
    commands_after: tuple[tuple[str, ...], ...] = ()
    crontab: FileChange | None = None
    """As it was read; what others write to it meanwhile stays."""
    notes: tuple[str, ...] = ()

    @property
    def is_needed(self) -> bool:
        return bool(self.files or self.commands_before or self.commands_after or self.crontab)


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Files by which a scheduler knows a schedule, and the commands that tell it so."""

    files: dict[Path, bytes]
    ask: tuple[str, ...]
    """Whether it runs."""
    start: tuple[tuple[str, ...], ...]
    """Once the files are there."""
    stop: tuple[str, ...]
    """Before they go."""
    must_stop: bool
    """Whether that is right where it does not run, too."""
    forget: tuple[tuple[str, ...], ...] = ()
    """Once they are gone."""
    notes: tuple[str, ...] = ()


def plan_schedule(config: Config, places: Places) -> SchedulePlan:
    """Plan what has to change for the current folder to be looked after; nothing where it is.

    Raises:
        Refused: memory is switched off, the folder is read-only or no project's, or a path cannot
            be named in a schedule.
        StorageError: nobody here runs programs by the clock, or the crontab cannot be read.
        Unreadable: a file in the way is none that can be read.
    """
    refuse_without_memory(config)
    refuse_read_only(config.policy)
    if not is_project(places.cwd, places):
        raise Refused(
            f"{places.cwd} is no project's folder: run this in the folder whose memory is to be"
            " looked after"
        )
    return _plan_entry(places)


def find_schedule_state(places: Places) -> InstallStateReport:
    """Tell whether the current folder is looked after; what cannot be read is told, not raised."""
    state, detail = "not-installed", None
    try:
        if plan_no_schedule(places).is_needed:
            state = "installed"
            if _plan_entry(places).is_needed:
                state = "other"
                detail = (
                    "By another Python, or it does not run: `ullage install schedule` renews it"
                )
    except (StorageError, Unreadable) as error:
        state, detail = "unreadable", str(error)
    except Refused:
        # Nobody can have made one.
        pass
    return InstallStateReport(agent=SCHEDULE, state=state, folder=str(places.cwd), detail=detail)


def _plan_entry(places: Places) -> SchedulePlan:
    schedule = _schedule_of(places)
    if scheduler.find_scheduler(places) == "crontab":
        crontab = _crontab_change(schedule, places, is_removal=False)
        return SchedulePlan(schedule=schedule, is_removal=False, crontab=crontab)
    entry = _entry_of(schedule, places)
    files = tuple(
        FileChange(file=file, new=data)
        for path, data in entry.files.items()
        if (file := read_agent_file(path)).data != data
    )
    is_running = not files and scheduler.answers(entry.ask, places)
    return SchedulePlan(
        schedule=schedule,
        is_removal=False,
        files=files,
        commands_after=() if is_running else entry.start,
        notes=() if is_running else entry.notes,
    )


def plan_no_schedule(places: Places) -> SchedulePlan:
    """Plan to take the schedule of the current folder back, and nothing else.

    Raises:
        Refused: a path cannot be named in a schedule, so that there is none.
        StorageError: the crontab cannot be read.
        Unreadable: a file of the schedule is none that can be read.
    """
    schedule = _schedule_of(places)
    entry = _entry_of(schedule, places)
    files = tuple(
        FileChange(file=file, new=None)
        for path in entry.files
        if (file := read_agent_file(path)).data is not None
    )
    if not files:
        crontab = _crontab_change(schedule, places, is_removal=True)
        return SchedulePlan(schedule=schedule, is_removal=True, crontab=crontab)
    is_stopped = entry.must_stop or scheduler.answers(entry.ask, places)
    return SchedulePlan(
        schedule=schedule,
        is_removal=True,
        commands_before=(entry.stop,) if is_stopped else (),
        files=files,
        commands_after=entry.forget,
    )


def make_schedule(plan: SchedulePlan, places: Places) -> None:
    """Make what was planned.

    Raises:
        ChangedMeanwhile: a file changed since it was read.
        StorageError: a program or the system does not let us; run again, it goes on from there.
    """
    for command in plan.commands_before:
        scheduler.run_scheduler(command, places)
    make_changes(plan.files)
    for command in plan.commands_after:
        scheduler.run_scheduler(command, places)
    if plan.crontab is not None:
        # Read again: others may have changed it while the user was asked.
        crontab = _crontab_change(plan.schedule, places, is_removal=plan.is_removal)
        if crontab is not None:
            scheduler.write_crontab(crontab.new or b"", places)


def schedule_lines(plan: SchedulePlan, places: Places) -> Iterator[str]:
    """Yield what is shown before the question: each line that is written, each command."""
    if not plan.is_needed:
        is_not = "not" if plan.is_removal else "already"
        folder = shorten_path(Path(plan.schedule.folder), places)
        yield f"{folder} is {is_not} looked after by the clock; nothing changes."
    for change, name, n_context in _list_changes(plan, places):
        yield from diff_lines(change, name, places, n_context)
    for command in (*plan.commands_before, *plan.commands_after):
        yield f"Runs: {' '.join(command)}"
    for note in plan.notes:
        yield from textwrap.wrap(f"Note: {note}", WIDTH, break_on_hyphens=False)


def schedule_question(plan: SchedulePlan) -> str:
    if plan.is_removal:
        return "Take the schedule of this folder back?"
    return f"Have this looked after every {PERIOD_MINUTES} minutes?"


def schedule_done_text(plan: SchedulePlan) -> str:
    if plan.is_removal:
        return "This folder is no longer looked after by the clock."
    text = (
        f"Every {PERIOD_MINUTES} minutes Ullage looks whether a dream is due here."
        " `ullage uninstall schedule` in this folder takes it back."
    )
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def report_schedule(plan: SchedulePlan, places: Places, *, is_done: bool) -> PlanReport:
    return PlanReport(
        agent=SCHEDULE,
        action="uninstall" if plan.is_removal else "install",
        is_needed=plan.is_needed,
        is_done=is_done and plan.is_needed,
        files=tuple(
            report_file(change, name, places, n_context)
            for change, name, n_context in _list_changes(plan, places)
        ),
        notes=plan.notes,
        next=None,
    )


def _list_changes(plan: SchedulePlan, places: Places) -> Iterator[tuple[FileChange, str, int]]:
    """Yield what changes, its name, and how many lines around that are shown."""
    for change in plan.files:
        yield change, shorten_path(change.file.path, places), CONTEXT_LINES
    if plan.crontab is not None:
        # Lines of others in a crontab are not ours to print: they may hold keys.
        yield plan.crontab, str(_CRONTAB), 0


def _schedule_of(places: Places) -> Schedule:
    folder = places.cwd.resolve()
    python = Path(interpreter())
    windowless = python.with_name("pythonw.exe")
    if sys.platform == "win32" and windowless.is_file():
        python = windowless
    for path in (folder, places.state_folder, python):
        if not texts.is_schedulable(str(path), is_windows=sys.platform == "win32"):
            raise Refused(
                f"{str(path)!r} cannot be named in a schedule, by a character of it that not"
                " everybody reads alike: rename it"
            )
    return Schedule(
        name=f"ullage-dream-{folder_name(str(folder))}",
        folder=str(folder),
        state_folder=str(places.state_folder),
        python=str(python),
    )


def _entry_of(schedule: Schedule, places: Places) -> _Entry:
    name = schedule.name
    if scheduler.has_task_scheduler(places):
        path = places.state_folder / "schedules" / f"{name}.xml"
        return _Entry(
            files={path: texts.write_task(schedule).replace("\n", "\r\n").encode("utf-16")},
            ask=("schtasks", "/Query", "/TN", name),
            start=(("schtasks", "/Create", "/F", "/TN", name, "/XML", str(path)),),
            stop=("schtasks", "/Delete", "/F", "/TN", name),
            must_stop=False,
        )
    folder = places.home / ".config" / "systemd" / "user"
    timer = f"{name}.timer"
    reload = (*_SYSTEMCTL, "daemon-reload")
    return _Entry(
        files={
            folder / f"{name}.service": texts.write_service(schedule).encode(),
            folder / timer: texts.write_timer(schedule).encode(),
        },
        ask=(*_SYSTEMCTL, "is-enabled", "--quiet", timer),
        start=(reload, (*_SYSTEMCTL, "enable", "--now", timer)),
        stop=(*_SYSTEMCTL, "disable", "--now", timer),
        must_stop=True,
        forget=(reload,),
        notes=(_LINGER,),
    )


def _crontab_change(schedule: Schedule, places: Places, *, is_removal: bool) -> FileChange | None:
    """Give the user's crontab as a file, and how it is to be; None where it is so."""
    data = scheduler.read_crontab(places)
    before = (data or b"").decode("utf-8", "surrogateescape")
    if is_removal:
        after = texts.remove_cron_line(before, schedule.name)
    else:
        after = texts.add_cron_line(before, schedule)
    if after == before:
        return None
    file = AgentFile(path=_CRONTAB, target=_CRONTAB, data=data)
    return FileChange(file=file, new=after.encode("utf-8", "surrogateescape") or None)
