"""A folder looked after by the clock, and no longer: with programs that note what they are told."""

import os
import sys
from pathlib import Path

import msgspec
import pytest

from ullage.app.install.schedule import (
    find_schedule_state,
    make_schedule,
    plan_no_schedule,
    plan_schedule,
    report_schedule,
    schedule_lines,
)
from ullage.core.config.memory_settings import MemorySettings
from ullage.core.config.settings import Config, Policy
from ullage.core.install.schedule import write_cron_line, write_service, write_timer
from ullage.errors import ChangedMeanwhile, Refused, StorageError
from ullage.store.files.places import Places

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
NOTE = 'echo "$(basename "$0") $*" >> "$LOG"\n'
PROGRAMS = {
    "systemctl": NOTE
    + 'case "$2" in show) ;; is-enabled) [ -e "$ON" ];; enable) : > "$ON";; disable) rm -f "$ON";;'
    " daemon-reload) ;; *) exit 9;; esac\n",
    "crontab": 'if [ "$1" = -l ]; then\n'
    '  cat "$TAB" 2>/dev/null || { echo "no crontab for me" >&2; exit 1; }\n'
    'elif [ "$1" = -r ]; then rm "$TAB"; else cat > "$TAB"; fi\n',
    "schtasks": NOTE
    + 'case "$1" in "/?") ;; /Query) [ -e "$ON" ];; /Create) : > "$ON";; /Delete) rm "$ON";;'
    " *) exit 9;; esac\n",
    "denied": 'echo "crontab: you are not allowed\nto use this" >&2; exit 1\n',
    "no bus": 'echo "Failed to connect to bus" >&2; exit 1\n',
}
THEIRS = b"MAILTO=me\n0 1 * * * backup '100\\%' \xff\n"


def put(places: Places, name: str, program: str = "") -> None:
    path = Path(places.env["PATH"].split(os.pathsep)[0]) / name
    path.write_text(f"#!/bin/sh\n{PROGRAMS[program or name]}")
    path.chmod(0o755)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    for name in ("bin", "home", "shop"):
        (tmp_path / name).mkdir()
    env = {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "LOG": str(tmp_path / "log"),
        "ON": str(tmp_path / "on"),
        "TAB": str(tmp_path / "tab"),
    }
    places = Places(
        cwd=tmp_path / "shop", home=tmp_path / "home", env=env, state_folder=tmp_path / "state"
    )
    # The machine that the test runs on may have its own.
    put(places, "systemctl", "no bus")
    return places


def crontab(places: Places) -> Path:
    return Path(places.env["TAB"])


def log(places: Places) -> list[str]:
    path = Path(places.env["LOG"])
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    path.unlink(missing_ok=True)
    return [line for line in lines if not line.endswith(("show --property=Version", "/?"))]


def everything(places: Places) -> dict[str, bytes]:
    root = places.home.parent
    files = (path for path in root.rglob("*") if path.is_file() and path.name != "log")
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def test_units_of_systemd_are_written_enabled_and_taken_back(places: Places) -> None:
    put(places, "systemctl")
    put(places, "crontab")
    before = everything(places)
    plan = plan_schedule(Config(), places)
    name = plan.schedule.name
    assert everything(places) == before
    assert log(places) == []
    make_schedule(plan, places)
    folder = places.home / ".config/systemd/user"
    assert (folder / f"{name}.service").read_text("utf-8") == write_service(plan.schedule)
    assert (folder / f"{name}.timer").read_text("utf-8") == write_timer(plan.schedule)
    assert log(places) == [
        "systemctl --user daemon-reload",
        f"systemctl --user enable --now {name}.timer",
    ]
    again = plan_schedule(Config(), places)
    assert list(schedule_lines(again, places)) == [
        f"{places.cwd} is already looked after by the clock; nothing changes."
    ]
    Path(places.env["ON"]).unlink()
    assert len(plan_schedule(Config(), places).commands_after) == 2
    log(places)
    make_schedule(plan_no_schedule(places), places)
    assert log(places) == [
        f"systemctl --user disable --now {name}.timer",
        "systemctl --user daemon-reload",
    ]
    assert everything(places) == before
    assert not plan_no_schedule(places).is_needed


def test_every_line_and_command_is_shown_before(places: Places) -> None:
    put(places, "systemctl")
    plan = plan_schedule(Config(), places)
    lines = list(schedule_lines(plan, places))
    for text in (write_service(plan.schedule), write_timer(plan.schedule)):
        assert all(f"+{line}" in lines for line in text.split("\n")[:-1])
    assert f"+++ ~/.config/systemd/user/{plan.schedule.name}.timer" in lines
    assert f"Runs: systemctl --user enable --now {plan.schedule.name}.timer" in lines
    report = report_schedule(plan, places, is_done=False)
    assert [file.change for file in report.files] == ["create", "create"]


@pytest.mark.parametrize("theirs", [None, THEIRS], ids=["no crontab", "a crontab"])
def test_a_line_of_the_crontab_comes_and_goes_and_all_others_stay(
    places: Places, theirs: bytes | None
) -> None:
    put(places, "crontab")
    if theirs is not None:
        crontab(places).write_bytes(theirs)
    before = everything(places)
    plan = plan_schedule(Config(), places)
    make_schedule(plan, places)
    line = write_cron_line(plan.schedule).encode()
    assert crontab(places).read_bytes() == (theirs or b"") + line + b"\n"
    assert not plan_schedule(Config(), places).is_needed
    make_schedule(plan_no_schedule(places), places)
    assert everything(places) == before
    assert not plan_no_schedule(places).is_needed


def test_nothing_of_a_crontab_but_our_line_is_shown(places: Places) -> None:
    put(places, "crontab")
    crontab(places).write_bytes(THEIRS)
    plan = plan_schedule(Config(), places)
    text = "\n".join(schedule_lines(plan, places))
    assert write_cron_line(plan.schedule) in text
    assert "backup" not in text
    assert "MAILTO" not in text


def test_what_others_write_to_the_crontab_while_the_user_is_asked_stays(places: Places) -> None:
    put(places, "crontab")
    crontab(places).write_bytes(THEIRS)
    plan = plan_schedule(Config(), places)
    crontab(places).write_bytes(b"# new\n" + THEIRS)
    make_schedule(plan, places)
    line = write_cron_line(plan.schedule).encode()
    assert crontab(places).read_bytes() == b"# new\n" + THEIRS + line + b"\n"
    out = plan_no_schedule(places)
    crontab(places).write_bytes(b"# newer\n" + THEIRS + line + b"\n# last\n")
    make_schedule(out, places)
    assert crontab(places).read_bytes() == b"# newer\n" + THEIRS + b"# last\n"


def test_folders_have_schedules_of_their_own(places: Places) -> None:
    put(places, "crontab")
    other = msgspec.structs.replace(places, cwd=places.home / "shop")
    other.cwd.mkdir()
    make_schedule(plan_schedule(Config(), places), places)
    make_schedule(plan_schedule(Config(), other), other)
    assert crontab(places).read_bytes().count(b"\n") == 2
    make_schedule(plan_no_schedule(places), places)
    line = write_cron_line(plan_schedule(Config(), other).schedule)
    assert crontab(places).read_text("utf-8") == f"{line}\n"


def test_a_task_of_windows_is_made_and_taken_back(places: Places) -> None:
    put(places, "schtasks")
    before = everything(places)
    plan = plan_schedule(Config(), places)
    name = plan.schedule.name
    assert any("<WorkingDirectory>" in line for line in schedule_lines(plan, places))
    make_schedule(plan, places)
    path = places.state_folder / "schedules" / f"{name}.xml"
    assert path.read_bytes().decode("utf-16").endswith("</Task>\r\n")
    assert not plan_schedule(Config(), places).is_needed
    make_schedule(plan_no_schedule(places), places)
    told = [line for line in log(places) if "/Query" not in line]
    assert told == [
        f"schtasks /Create /F /TN {name} /XML {path}",
        f"schtasks /Delete /F /TN {name}",
    ]
    assert everything(places) == before


def test_no_variable_but_the_state_folder_is_taken_along(places: Places) -> None:
    put(places, "systemctl")
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    env = places.env | {"OPENAI_API_KEY": key, "ULLAGE_MODEL": "gpt-odd"}
    places = msgspec.structs.replace(places, env=env)
    make_schedule(plan_schedule(Config(), places), places)
    data = b"".join(everything(places).values())
    assert str(places.state_folder).encode() in data
    assert key.encode() not in data
    assert b"gpt-odd" not in data


def test_where_nobody_runs_programs_that_is_said_in_one_line(places: Places) -> None:
    places = msgspec.structs.replace(places, env=places.env | {"PATH": str(places.home)})
    with pytest.raises(StorageError, match="Install cron") as refusal:
        plan_schedule(Config(), places)
    assert "\n" not in str(refusal.value)
    assert not plan_no_schedule(places).is_needed


def test_a_crontab_that_may_not_be_read_is_told_with_its_words(places: Places) -> None:
    put(places, "crontab", "denied")
    with pytest.raises(StorageError, match=r"`crontab -l` failed: crontab: you are not allowed\."):
        plan_schedule(Config(), places)


def test_units_stay_where_systemd_does_not_answer(places: Places) -> None:
    put(places, "systemctl")
    make_schedule(plan_schedule(Config(), places), places)
    before = everything(places)
    put(places, "systemctl", "no bus")
    plan = plan_no_schedule(places)
    with pytest.raises(StorageError, match="Failed to connect to bus"):
        make_schedule(plan, places)
    assert {k: v for k, v in everything(places).items() if k[:3] != "bin"} == {
        k: v for k, v in before.items() if k[:3] != "bin"
    }


def test_units_that_changed_meanwhile_are_left(places: Places) -> None:
    put(places, "systemctl")
    make_schedule(plan_schedule(Config(), places), places)
    plan = plan_no_schedule(places)
    service = places.home / ".config/systemd/user" / f"{plan.schedule.name}.service"
    service.write_text("mine")
    with pytest.raises(ChangedMeanwhile):
        make_schedule(plan, places)
    assert service.read_text() == "mine"


def test_a_folder_that_no_entry_can_name_is_refused(places: Places) -> None:
    folder = places.cwd / "a\\b"
    folder.mkdir()
    with pytest.raises(Refused, match="rename it"):
        plan_schedule(Config(), msgspec.structs.replace(places, cwd=folder))


def test_no_folder_but_a_projects_is_looked_after(places: Places) -> None:
    put(places, "crontab")
    for folder in (places.home, Path(places.home.anchor)):
        with pytest.raises(Refused, match="is no project's folder: run this in"):
            plan_schedule(Config(), msgspec.structs.replace(places, cwd=folder))


def test_where_memory_is_off_or_nothing_is_written_no_schedule_is_made(places: Places) -> None:
    put(places, "crontab")
    off = Config(memory=MemorySettings(is_enabled=False))
    with pytest.raises(Refused, match="memory is switched off"):
        plan_schedule(off, places)
    with pytest.raises(Refused):
        plan_schedule(Config(policy=Policy(is_read_only=True)), places)
    assert not plan_no_schedule(places).is_needed


@pytest.mark.parametrize("program", ["systemctl", "crontab", "schtasks"])
def test_it_is_told_whether_a_folder_is_looked_after(places: Places, program: str) -> None:
    put(places, program)
    put(places, "crontab")
    assert find_schedule_state(places).state == "not-installed"
    make_schedule(plan_schedule(Config(), places), places)
    assert find_schedule_state(places).state == "installed"
    moved = msgspec.structs.replace(places, state_folder=places.home / "state")
    if program != "schtasks":
        # There the file of a task is in the folder of state.
        other = find_schedule_state(moved)
        assert (other.state, "renews it" in (other.detail or "")) == ("other", True)
    make_schedule(plan_no_schedule(places), places)
    assert find_schedule_state(places).state == "not-installed"


def test_what_cannot_be_looked_at_is_told(places: Places) -> None:
    put(places, "crontab", "denied")
    found = find_schedule_state(places)
    assert (found.state, (found.detail or "")[:12]) == ("unreadable", "`crontab -l`")
    folder = places.cwd / "a\\b"
    folder.mkdir()
    nameless = msgspec.structs.replace(places, cwd=folder)
    assert find_schedule_state(nameless).state == "not-installed"
