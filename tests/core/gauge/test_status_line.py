"""The status line: its fields, what is left out, what fits."""

import pytest

from ullage.core.gauge.status_line import (
    DEFAULT_FORMAT,
    FIELDS,
    color_of,
    find_unknown,
    list_figure_values,
    list_gauge_values,
    write_status_line,
)
from ullage.core.transcript.agent_lines import limit_text

TOLD: dict[str, object] = {
    "used": 162_000,
    "window": 200_000,
    "is_reported": True,
    "is_certain": True,
    "own_point": 167_000,
    "checkpoint_ratio": 0.8,
    "full_ratio": 0.95,
    "agent": "Claude Code",
    "model": "claude-sonnet-4-5",
    "title": "Fix {percent} of it",
}
NOW_S = 1_000.0


def limit(n_minutes: int, used_percent: int, resets_at_s: int) -> dict[str, object]:
    return {"n_minutes": n_minutes, "used_percent": used_percent, "resets_at_s": resets_at_s}


FIGURES: dict[str, object] = {
    "micro_usd": 390_240,
    "cache_percent": 86,
    "limits": [limit(300, 24, 2_000), limit(10_080, 41, 0)],
}
VALUES = list_gauge_values(TOLD, 162_000) | list_figure_values(FIGURES, NOW_S)


def test_each_field_has_a_value() -> None:
    assert {name: VALUES[name] for name in FIELDS} == {
        "percent": "81%",
        "used": "162k",
        "window": "200k",
        "bar": "████████░░",
        "compacts": "compacts at 167k",
        "agent": "Claude Code",
        "model": "claude-sonnet-4-5",
        "title": "Fix {percent} of it",
        "cost": "$0.39",
        "cache": "cache 86%",
        "five_hour": "5h 24%",
        "week": "week 41%",
    }
    assert find_unknown(DEFAULT_FORMAT + "".join(f"{{{name}}}" for name in FIELDS)) is None


def test_figures_that_are_no_record_are_marked() -> None:
    for key in ("is_reported", "is_certain"):
        assert list_gauge_values(TOLD | {key: False}, 162_000)["percent"] == "~81%"
    values = list_gauge_values(TOLD, None)
    assert write_status_line("{percent} {used}/{window}{bar}", values) == "? ?/200k"


def test_a_limit_that_has_begun_anew_is_not_told() -> None:
    values = list_figure_values({"limits": [limit(300, 24, 999), limit(10_080, 41, 1_001)]}, NOW_S)
    assert values == {"week": "week 41%"}


def test_limits_are_told_by_their_names_and_not_by_their_order() -> None:
    mixed = {"resets_at_s": 2_000, "used_percent": 24, "n_minutes": 299, "more": 1}
    values = list_figure_values(
        {"limits": [mixed, limit(10**400, 1, 0), limit(10_080, 41, 0), {"n_minutes": 300}]}, NOW_S
    )
    assert values == {"five_hour": "5h 24%", "week": "week 41%"}


@pytest.mark.parametrize(
    ("n_minutes", "period"),
    [(1, "1m"), (30, "30m"), (59, "59m"), (60, "1h"), (299, "5h"), (1_440, "1d"), (10_079, "week")],
)
def test_a_limit_is_told_in_minutes_hours_or_days(n_minutes: int, period: str) -> None:
    assert limit_text(n_minutes, 3) == f"{period} 3%"


def test_a_part_that_says_nothing_is_left_out() -> None:
    values = {"percent": "42%", "week": "week 41%"}
    assert (
        write_status_line("{percent} | {cost} | {cache} {week} | me", values)
        == "42% | week 41% | me"
    )
    assert write_status_line("{cost}", values) == ""


def test_a_value_is_no_format() -> None:
    assert write_status_line("{title}", VALUES) == "Fix {percent} of it"


def test_the_last_parts_go_where_it_is_narrow() -> None:
    whole = write_status_line(DEFAULT_FORMAT, VALUES)
    assert (
        whole == "81% 162k/200k | compacts at 167k | 5h 24% | week 41% | $0.39 | claude-sonnet-4-5"
    )
    for n_columns in range(1, len(whole) + 1):
        line = write_status_line(DEFAULT_FORMAT, VALUES, n_columns=n_columns)
        assert len(line) <= n_columns
        # Half a figure is another figure.
        assert line == "" or f"{whole} ".startswith(f"{line} ")
    assert (
        write_status_line(DEFAULT_FORMAT, VALUES, n_columns=40)
        == "81% 162k/200k | compacts at 167k"
    )


@pytest.mark.parametrize(
    ("n_columns", "line"),
    [
        (80, "Fix the login of the shop 81% 162k/200k"),
        (38, "Fix the login of the… 81% 162k/200k"),
        (20, "Fix t… 81% 162k/200k"),
        (14, "Fix the… 81%"),
    ],
)
def test_a_title_makes_room_for_the_figures(n_columns: int, line: str) -> None:
    values = VALUES | {"title": "Fix the login of the shop"}
    template = "{title} {percent} {used}/{window}"
    assert write_status_line(template, values, n_columns=n_columns) == line


def test_a_title_makes_room_for_the_parts_behind_it() -> None:
    values = VALUES | {"title": "Fix the login of the shop"}
    template = "{percent} | {title} | {cost}"
    assert (
        write_status_line(template, values, n_columns=35) == "81% | Fix the login of the… | $0.39"
    )
    assert write_status_line(template, values, n_columns=24) == "81% | Fix the login of…"
    assert write_status_line(template, values, n_columns=10) == "81%"


@pytest.mark.parametrize(
    ("n_used", "color"), [(159_999, ""), (160_000, "\x1b[33m"), (190_000, "\x1b[31m"), (None, "")]
)
def test_the_color_is_that_of_the_thresholds(n_used: int | None, color: str) -> None:
    assert color_of(TOLD, n_used) == color
    line = write_status_line("{percent} | {model}", VALUES, color=color)
    end = "\x1b[0m" if color else ""
    assert line == f"{color}81%{end} | claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("template", "unknown"),
    [
        ("{percent} {titel} {x}", "{titel}"),
        ("a } b", "}"),
        ("{", "{"),
        ("{}", "{}"),
        ("{us{percent}ed}", "{us{"),
    ],
)
def test_what_is_no_field_is_named(template: str, unknown: str) -> None:
    assert (find_unknown(template) or "").startswith(unknown)
