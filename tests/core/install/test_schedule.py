"""Texts of schedules: quoted so that each reader gets the very paths, and others' lines stay."""

import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path

import pytest
from cronsim import CronSim
from hypothesis import example, given
from hypothesis import strategies as st

from running import WAIT_S
from ullage.core.install.schedule import (
    Schedule,
    add_cron_line,
    is_schedulable,
    remove_cron_line,
    write_cron_line,
    write_service,
    write_shell_command,
    write_task,
    write_timer,
)

ODD = "/home/a b/100% 'so' \"$HOME\" `id` ; # & größe/x"
PLAIN = Schedule(
    name="ullage-dream-shop-1a2b3c4d",
    folder="/work/shop",
    state_folder="/home/me/.local/state/ullage",
    python="/opt/venv/bin/python",
)
paths = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\\")).map(
    lambda text: f"/{text}"
)
schedules = st.builds(
    Schedule, name=st.just(PLAIN.name), folder=paths, state_folder=paths, python=paths
)
crontabs = st.lists(
    st.sampled_from(("# mine", "MAILTO=me", "0 1 * * * a # ullage-dream-other", "\r", "", "é\x0c"))
).map(lambda lines: "".join(f"{line}\n" for line in lines))


def words_of(schedule: Schedule) -> list[str]:
    """Give the words that a shell has to see."""
    return [
        *("cd", schedule.folder, "2>/dev/null", "||", "exit", "0;"),
        f"ULLAGE_STATE_DIR={schedule.state_folder}",
        *(schedule.python, "-P", "-m", "ullage", "memory", "dream", "--due"),
    ]


def run_by_cron(line: str) -> str:
    """Take the command of a line as cron does, up to the first bare percent sign."""
    assert "\n" not in line
    fields = line.split(" ", 5)
    CronSim(" ".join(fields[:5]), datetime.min)
    command = re.split(r"(?<!\\)%", fields[5])
    assert len(command) == 1
    return command[0].replace("\\%", "%")


def run_by_systemd(unit: str) -> list[str]:
    """Take the words of a unit's command as systemd does."""
    assert "%" not in unit.replace("%%", "")
    (line,) = re.findall(r"(?m)^ExecStart=(.*)$", unit.replace("%%", "%"))
    assert "$" not in line.replace("$$", "")
    return shlex.split(line.replace("$$", "$"))


@given(schedules)
@example(Schedule(name=PLAIN.name, folder=ODD, state_folder=ODD, python=ODD))
def test_every_reader_gets_the_very_paths(schedule: Schedule) -> None:
    command = write_shell_command(schedule)
    assert shlex.split(command) == words_of(schedule)
    assert run_by_cron(write_cron_line(schedule)) == f"{command} # {schedule.name}"
    assert run_by_systemd(write_service(schedule)) == ["/bin/sh", "-c", command]
    action = ET.fromstring(write_task(schedule)).find(".//{*}Exec")
    texts = {} if action is None else {part.tag.split("}")[1]: part.text for part in action}
    assert (texts["Command"], texts["WorkingDirectory"]) == (schedule.python, schedule.folder)
    words = shlex.split(write_task(PLAIN).split("Arguments>")[1].removesuffix("</"))
    if '"' not in schedule.state_folder:
        words[3] = schedule.state_folder
        assert texts["Arguments"] == subprocess.list2cmdline(words)


@given(crontabs, schedules)
def test_a_crontab_gets_one_line_and_gives_back_the_others_to_the_byte(
    crontab: str, schedule: Schedule
) -> None:
    added = add_cron_line(crontab, schedule)
    assert added == f"{crontab}{write_cron_line(schedule)}\n"
    assert add_cron_line(added, schedule) == added
    assert add_cron_line(f"{added}# later\n", schedule) == f"{added}# later\n"
    assert remove_cron_line(f"# before\n{added}# after", schedule.name) == (
        f"# before\n{crontab}# after"
    )
    assert remove_cron_line(crontab, schedule.name) == crontab


def test_the_line_of_another_python_is_replaced() -> None:
    old = Schedule(name=PLAIN.name, folder="/old", state_folder="/s", python="/p")
    assert add_cron_line(add_cron_line("# mine", old), PLAIN) == (
        f"# mine\n{write_cron_line(PLAIN)}\n"
    )


@pytest.mark.parametrize("path", ["/a\nb", "/a\\b", "/a\x7f", "/a\udc80", "/a\r"])
def test_what_no_entry_can_name_is_told(path: str) -> None:
    assert not is_schedulable(path, is_windows=False)
    assert is_schedulable(ODD, is_windows=False)
    assert is_schedulable("C:\\a b\\100%", is_windows=True)
    assert not is_schedulable('C:\\a"b', is_windows=True)


@pytest.mark.skipif(sys.platform == "win32", reason="the line is for shells of Unix")
def test_a_shell_runs_it_in_the_folder_and_nothing_where_that_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "100% 'so' \"$HOME\" `id`"
    folder.mkdir()
    python = tmp_path / "my python"
    python.write_text('#!/bin/sh\npwd\necho "$ULLAGE_STATE_DIR" "$@"\n')
    python.chmod(0o755)
    schedule = Schedule(name="x", folder=str(folder), state_folder=ODD, python=str(python))

    def run() -> tuple[int, str, str]:
        command = ["/bin/sh", "-c", f"{write_shell_command(schedule)} # x"]
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", timeout=WAIT_S, check=False
        )
        return done.returncode, done.stdout, done.stderr

    assert run() == (0, f"{folder}\n{ODD} -P -m ullage memory dream --due\n", "")
    folder.rmdir()
    assert run() == (0, "", "")


def test_a_task_of_windows_starts_us_with_the_state_folder(tmp_path: Path) -> None:
    words = shlex.split(write_task(PLAIN).split("Arguments>")[1].removesuffix("</"))
    assert words[4:] == ["memory", "dream", "--due"]
    done = subprocess.run(
        [sys.executable, *words[:3], str(tmp_path / "my state"), "memory", "store", "A fact."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "my state" / "memory").is_dir()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
@pytest.mark.parametrize("folder", ["/work/shop", ODD])
def test_systemd_takes_the_units(tmp_path: Path, folder: str) -> None:
    schedule = Schedule(name="ullage-dream-x", folder=folder, state_folder=ODD, python=ODD)
    units = {".service": write_service(schedule), ".timer": write_timer(schedule)}
    for suffix, text in units.items():
        (tmp_path / f"ullage-dream-x{suffix}").write_text(text, "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    ours = [line for line in done.stderr.split("\n") if "ullage-dream" in line]
    assert (done.returncode, ours) == (0, [])
