"""What looks by the clock whether a dream is due: units of systemd, a crontab, a task of Windows.

All run `ullage memory dream --due` in one folder, with the state folder and nothing else of the
environment. What cannot be quoted for all of them alike is refused (`is_schedulable`).
"""

import html
import re
import shlex

import msgspec

from ullage.core.install.hook_settings import OPTIONS

PERIOD_MINUTES = 30
"""A look that finds nothing due takes a fraction of a second (chosen)."""
STATE_VARIABLE = "ULLAGE_STATE_DIR"
_DREAM = ("memory", "dream", "--due")
_UNQUOTABLE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
"""Line ends end entries. Of backslashes, crons take away different ones, as before a `%`."""
_UNQUOTABLE_WINDOWS = re.compile(r'[\x00-\x1f\x7f"\ud800-\udfff]')
_ON_WINDOWS = (
    f"import os, sys; os.environ['{STATE_VARIABLE}'] = sys.argv.pop(1);"
    " from ullage.__main__ import main; main()"
)
"""A task has no environment of its own, and `cmd` takes percent signs out of paths."""


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """What is run where."""

    name: str
    """Of the units and the task, and the mark of the crontab's line: letters, digits, `._-`."""
    folder: str
    state_folder: str
    python: str
    """All three absolute."""


def is_schedulable(path: str, *, is_windows: bool) -> bool:
    """Whether a path can be named in a schedule."""
    return not (_UNQUOTABLE_WINDOWS if is_windows else _UNQUOTABLE).search(path)


def write_shell_command(schedule: Schedule) -> str:
    """Write what a shell is to run; nothing where the folder is gone, or not mounted."""
    state = f"{STATE_VARIABLE}={shlex.quote(schedule.state_folder)}"
    command = shlex.join((schedule.python, *OPTIONS, *_DREAM))
    return f"cd {shlex.quote(schedule.folder)} 2>/dev/null || exit 0; {state} {command}"


def write_cron_line(schedule: Schedule) -> str:
    """Write the line of a crontab; its end, a comment to the shell, marks it as ours."""
    command = write_shell_command(schedule).replace("%", r"\%")
    return f"*/{PERIOD_MINUTES} * * * * {command}{_mark(schedule.name)}"


def add_cron_line(crontab: str, schedule: Schedule) -> str:
    """Give a crontab with our line at its end; as it is where that stands anywhere in it."""
    line = write_cron_line(schedule)
    if line in crontab.split("\n"):
        return crontab
    rest = remove_cron_line(crontab, schedule.name)
    line_end = "" if not rest or rest.endswith("\n") else "\n"
    return f"{rest}{line_end}{line}\n"


def remove_cron_line(crontab: str, name: str) -> str:
    """Give a crontab without our lines; every other byte stays."""
    *lines, rest = crontab.split("\n")
    kept = [f"{line}\n" for line in lines if not line.endswith(_mark(name))]
    return "".join(kept) + ("" if rest.endswith(_mark(name)) else rest)


def write_service(schedule: Schedule) -> str:
    """Write the unit of systemd that looks once."""
    command = write_shell_command(schedule).replace('"', r"\"").replace("$", "$$")
    unit = (
        f"[Unit]\nDescription=Memory of {schedule.folder} by Ullage\n"
        f'\n[Service]\nType=oneshot\nExecStart=/bin/sh -c "{command}"\n'
    )
    return unit.replace("%", "%%")


def write_timer(schedule: Schedule) -> str:
    """Write the unit of systemd that starts the service of its name."""
    unit = (
        f"[Unit]\nDescription=When to look after memory of {schedule.folder} by Ullage\n"
        f"\n[Timer]\nOnCalendar=*:0/{PERIOD_MINUTES}\n\n[Install]\nWantedBy=timers.target\n"
    )
    return unit.replace("%", "%%")


def write_task(schedule: Schedule) -> str:
    """Write the task of Windows, as its scheduler exports one."""
    words = ("-P", "-c", _ON_WINDOWS, schedule.state_folder, *_DREAM)
    arguments = " ".join(map(_quote_for_windows, words))
    return f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers>
    <TimeTrigger>
      <Repetition>
        <Interval>PT{PERIOD_MINUTES}M</Interval>
      </Repetition>
      <StartBoundary>2026-01-01T00:00:00</StartBoundary>
    </TimeTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
  </Settings>
  <Actions>
    <Exec>
      <Command>{_escape(schedule.python)}</Command>
      <Arguments>{_escape(arguments)}</Arguments>
      <WorkingDirectory>{_escape(schedule.folder)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
"""


def _mark(name: str) -> str:
    return f" # {name}"


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _quote_for_windows(word: str) -> str:
    # A backslash before the closing quote would make it a part of the word.
    n_backslashes = len(word) - len(word.rstrip("\\"))
    return f'"{word}{n_backslashes * chr(92)}"' if " " in word else word
