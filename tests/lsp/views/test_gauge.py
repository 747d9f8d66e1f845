"""The gauge: its hover with what fills the window, and its renewal as the session grows."""

import re
import time
from pathlib import Path

import msgspec
import pytest
from lsprotocol import types

from codex_files import CodexFile
from pi_files import MODEL, PiFile, grow
from running import Place
from ullage.app.gauge.inspect import fill
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config
from ullage.lsp.views import gauge as gauge_module
from ullage.lsp.views.gauge import MAX_SHARES, gauge_tooltip

NEVER_S = 99_999_999_999
SHARE = re.compile(r"^\| (\w.*) \| ([\d,]+) \| ([\d.]+)% \|$", re.MULTILINE)


def shares(tooltip: str) -> list[int]:
    return [int(one[2].replace(",", "")) for one in SHARE.finditer(tooltip)]


def growing(place: Place, step: int = 20_000) -> Loaded:
    """A session of five turns that grow alike."""
    pi = PiFile(cwd=str(place.cwd))
    for usage in range(step, 5 * step + 1, step):
        pi.user("go on")
        pi.assistant("done", usage=usage, model=MODEL)
    places = place.places()
    return load(open_session(place.write("s.jsonl", pi.data)), Config(), places)


def write_limits(place: Place, ends_at_s: int) -> None:
    """Write a session of Codex with a limit of a week, and one of five hours that ends then."""
    codex = CodexFile(cwd=str(place.cwd))
    codex.user("Go on.")
    codex.assistant("Done.", n_total=50_000)
    limits = {
        name: {"used_percent": percent, "window_minutes": n_minutes, "resets_at": at_s}
        for name, percent, n_minutes, at_s in (
            ("secondary", 41, 10_080, NEVER_S),
            ("primary", 2.6, 300, ends_at_s),
        )
    }
    codex.event("token_count", info=None, rate_limits=limits)
    name = "rollout-2026-11-28T10-00-00-01a1fbde-0000-7000-8000-000000000001.jsonl"
    place.write(str(place.home / ".codex/sessions/2026/11/28" / name), codex.data)


def test_the_hover_tells_the_shares_largest_first_and_how_far_the_next_trigger_is(
    place: Place,
) -> None:
    loaded = growing(place)
    filling = fill(loaded)
    tooltip = gauge_tooltip(loaded, filling, is_automatic=False)
    assert shares(tooltip) == [share.n_tokens for share in filling.shares[:MAX_SHARES]]
    assert sum(share.n_tokens for share in filling.shares) == 100_000
    assert "about 3 turns away" in tooltip
    for change, told in (
        ({"turns_low": 1, "turns_high": 2}, ", about 1 to 2 turns away"),
        ({"turns_low": 1, "turns_high": 1}, ", about 1 turn away"),
        ({"trigger": "an earlier one"}, ""),
    ):
        forecast = msgspec.structs.replace(filling.forecast, **change)
        other = msgspec.structs.replace(filling, forecast=forecast)
        tooltip_of_other = gauge_tooltip(loaded, other, is_automatic=False)
        assert re.search(r"^Next: .* tokens(.*)$", tooltip_of_other, re.MULTILINE)[1] == told
    assert re.search(r"100,000 reported by the provider, as of \d{4}-\d\d-\d\d \d\d:\d\d", tooltip)
    assert tooltip.endswith("Automatic compaction: off")


def test_a_time_that_no_calendar_has_is_not_told(place: Place) -> None:
    pi = PiFile(cwd=str(place.cwd))
    pi.user("question")
    pi.assistant("answer", usage=1_000, model=MODEL)
    data = re.sub(rb'"timestamp":\s*(\d+|"2[^"]*")', b'"timestamp":9000000000000000', pi.data)
    loaded = load(open_session(place.write("s.jsonl", data)), Config(), place.places())
    assert loaded.context.items[-1].at_ms == 9_000_000_000_000_000
    tooltip = gauge_tooltip(loaded, None, is_automatic=False)
    assert "1,000 reported by the provider" in tooltip
    assert "as of" not in tooltip


def test_the_hover_of_a_full_window_says_what_to_do(place: Place) -> None:
    loaded = growing(place, 39_900)
    tooltip = gauge_tooltip(loaded, fill(loaded), is_automatic=False)
    rows = tooltip.split("\n\n")
    assert "Next: none, all thresholds are passed" in rows
    own = "pi / OpenClaw compacts by itself at 183,616, which is reached"
    assert any(row.startswith(own) for row in rows)
    assert any(row.startswith("Due now: save a checkpoint; nothing more, as") for row in rows)


def test_the_hover_says_whether_a_compaction_is_asked_about(place: Place) -> None:
    loaded = growing(place)
    tooltip = gauge_tooltip(loaded, None, is_automatic=True)
    assert tooltip.endswith("Automatic compaction: on, asks first")
    assert not shares(tooltip)
    tooltip = gauge_tooltip(loaded, None, is_automatic=True, is_restricted=True)
    assert tooltip.endswith("Automatic compaction: off in Restricted Mode")


def test_the_hover_tells_the_time_of_the_last_compaction_as_it_is_not_drawn_again(
    place: Place,
) -> None:
    pi = PiFile(cwd=str(place.cwd))
    kept = pi.user("go on")
    pi.compaction("Done so far.", kept)
    loaded = load(open_session(place.write("s.jsonl", pi.data)), Config(), place.places())
    tooltip = gauge_tooltip(loaded, None, is_automatic=False)
    assert re.search(
        r"^Compactions: 1, last: \d[-\d]+\d( \d\d:\d\d)? · risk ", tooltip, re.MULTILINE
    )


async def test_shares_come_with_the_gauge_or_after_a_pause_and_the_switch_at_once(
    editor, workspace_session: tuple[PiFile, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gauge_module, "PAUSE_S", 1.0)
    pi, path = workspace_session
    await editor.start(editor.place.cwd)
    found = await editor.gauge(lambda gauge: sum(shares(gauge.tooltip)) == 84_000)
    assert (found.text, found.isAutomatic) == ("42%", True)
    grow(pi, path, 100_000)
    found = await editor.gauge(lambda gauge: gauge.text == "50%")
    assert sum(shares(found.tooltip)) == 100_000
    grow(pi, path, 120_000)
    await editor.gauge(lambda gauge: sum(shares(gauge.tooltip)) == 120_000)
    await editor.execute("ullage.auto", {"isOn": False})
    found = await editor.gauge(lambda gauge: not gauge.isAutomatic)
    assert found.tooltip.endswith("Automatic compaction: off")
    (row,) = (await editor.request("ullage/sessions")).sessions
    assert not row.isAutomatic


async def test_the_limits_of_the_plan_stand_in_the_hover_and_beside_the_gauge_if_wished(
    editor, place: Place
) -> None:
    write_limits(place, NEVER_S)
    await editor.start(place.cwd)
    found = await editor.gauge(lambda gauge: "Limits: 5h 3% until " in gauge.tooltip)
    assert "; week 41% until " in found.tooltip
    assert found.itemText == found.text
    wish = types.DidChangeConfigurationParams(settings={"ullage": {"gauge.showLimits": True}})
    editor.client.workspace_did_change_configuration(wish)
    wished = await editor.gauge(lambda gauge: gauge.itemText == f"{found.text} · 5h 3% · week 41%")
    assert wished.label == f"{found.label}; 5h 3% · week 41%"


async def test_a_limit_goes_from_the_gauge_when_it_ends_while_nothing_is_written(
    editor, place: Place
) -> None:
    write_limits(place, round(time.time()) + 3)
    await editor.start(place.cwd)
    await editor.gauge(lambda gauge: "Limits: week 41% until " in gauge.tooltip)


async def test_where_another_session_is_live_the_item_names_agent_and_title(
    editor, workspace_session: tuple[PiFile, Path], place: Place
) -> None:
    _, path = workspace_session
    await editor.start(place.cwd)
    alone = await editor.gauge(lambda gauge: gauge.text == "42%")
    assert alone.itemText == "42%"
    await editor.execute("ullage.choose", {"session": str(path)})
    other = PiFile(cwd=str(place.cwd), session_id="another")
    other.user("Something else.")
    other.assistant("Done.", usage=10_000, model=MODEL)
    place.write(str(path.with_name("2026-02-04_another.jsonl")), other.data, age_s=0.0)
    named = await editor.gauge(lambda gauge: gauge.itemText != "42%")
    assert re.fullmatch(r"42% · pi / OpenClaw · \S.{0,23}", named.itemText)


async def test_no_session_is_told_only_once_that_is_known(editor, workspace_session) -> None:
    """A view draws its rows by what it is told first."""
    await editor.start(editor.place.cwd)
    first = await editor.gauge(lambda _: True)
    assert first.session is not None
