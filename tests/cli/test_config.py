"""`ullage config`, and what a configuration does to the other commands."""

import json
from pathlib import Path

import pytest

USER = "compaction:\n  autoThresholdPercent: 85\n  pruneProtectTokens: abc\n  keepRecentToken: 1\n"


def configure(place, text: str, name: str = "home/.openclaw/config.yaml") -> Path:
    path = place.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_show_says_what_is_set_and_where(place) -> None:
    configure(place, USER)
    configure(place, "pins: [Keep me]\n", "work/shop/.ullage.yaml")
    done = place.run("config", "show", ULLAGE_CONTEXT_WINDOW="64000")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        str(Path("~/.openclaw/config.yaml")),
        "  compaction.layers.summarize.trigger = 85%  (line 2)",
        "",
        ".ullage.yaml",
        "  pins = (set by the workspace's .ullage.yaml) Keep me  (line 1)",
        "",
        "ULLAGE_CONTEXT_WINDOW",
        "  contextWindow = 64,000 tokens",
        "",
        "49 settings have their defaults: ullage config show --all",
        "files, the last one wins",
        f"  {Path('~/.openclaw/openclaw.json')} (none)",
        f"  {Path('~/.openclaw/config.yaml')}",
        "  .ullage.yaml",
        "2 findings: ullage config check",
    ]


def test_show_without_any_configuration_says_where_one_would_be(place) -> None:
    done = place.run("config", "show")
    assert (
        done.stdout.splitlines()[0] == "52 settings have their defaults: ullage config show --all"
    )
    assert done.stdout.count("(none)") == 3
    everything = place.run("config", "show", "--all").stdout
    assert "  compaction.prune.protectRecentTokens = 40,000 tokens\n" in everything
    assert max(map(len, everything.splitlines())) <= 100


def test_show_as_json_has_every_key(place) -> None:
    configure(place, USER)
    report = json.loads(place.run("config", "show", "--json").stdout)
    assert len(report["settings"]) == 52
    changed = [setting for setting in report["settings"] if not setting["is_default"]]
    assert [(s["key"], s["value"], s["default"]) for s in changed] == [
        ("compaction.layers.summarize.trigger", "85%", "88%")
    ]
    (origin,) = changed[0]["origins"]
    assert (origin["place"], origin["line"], origin["column"]) == ("user file", 2, 25)
    assert report["n_findings"] == 2


def test_check_prints_a_line_for_each_finding_and_exits_with_3(place) -> None:
    configure(place, USER)
    done = place.run("config", "check")
    assert (done.returncode, done.stderr) == (3, "")
    file = Path("~/.openclaw/config.yaml")
    assert done.stdout.splitlines() == [
        f"{file}:3:23: `compaction.prune.protectRecentTokens` must be a whole number of tokens from"
        " 0 to 100,000,000, not a text; it is ignored until then (config-type)",
        f"{file}:4:3: there is no setting `compaction.keepRecentToken`;"
        " did you mean `compaction.keepRecentTokens`? (config-unknown)",
    ]


def test_check_as_json(place) -> None:
    path = configure(place, USER)
    done = place.run("config", "check", path, "--json")
    assert done.returncode == 3
    findings = json.loads(done.stdout)["findings"]
    assert [(f["code"], f["line"], f["column"], f["end_column"]) for f in findings] == [
        ("config-type", 3, 23, 26),
        ("config-unknown", 4, 3, 18),
    ]
    assert findings[1]["replacement"] == "compaction.keepRecentTokens"


def test_check_without_findings_exits_with_0(place) -> None:
    done = place.run("config", "check")
    assert (done.returncode, done.stdout) == (0, "No findings.\n")


def test_a_file_that_does_not_exist_is_refused(place) -> None:
    done = place.run("config", "check", "nothing.yaml")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
    assert "nothing.yaml does not exist" in done.stderr


BROKEN = {
    "syntax": "compaction: [",
    "bytes": "\0\x01",
    "bomb": "a: &a [x]\nb: *a",
    "hostile": "compaction: {model: {baseUrl: 'https://evil.test'}, reserveTokens: x}\n\x1b: 1",
    "folder": None,
}


STOPPED = [
    *((("context", "status"), broken) for broken in BROKEN),
    *((args, "hostile") for args in (("sessions",), ("compact", "--dry-run"))),
]


@pytest.mark.parametrize(("args", "broken"), STOPPED, ids=str)
def test_no_configuration_stops_a_command(
    place, session: Path, args: tuple[str, ...], broken: str
) -> None:
    args = args if args == ("sessions",) else (*args, "--session", str(session))
    expected = place.run(*args)
    text = BROKEN[broken]
    if text is None:
        (place.cwd / ".ullage.yaml").mkdir()
    else:
        configure(place, text, "work/shop/.ullage.yaml")
    done = place.run(*args)
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout)
    assert done.returncode == 0
    assert done.stderr.startswith("ullage: ")
    assert done.stderr.endswith("ignored; `ullage config check` says why\n")
    assert done.stderr.count("\n") == 1


def test_a_threshold_reaches_the_status_and_its_window_is_named(place, session: Path) -> None:
    configure(place, "contextWindow: 20000\ngauge: {trigger: 1000}\n")
    done = place.run("context", "status", "--json", "--session", session)
    report = json.loads(done.stdout)
    assert report["window_tokens"] == 20_000
    assert report["window_detail"].endswith("config.yaml:1:16")
    assert report["band"] != "normal"
    flag = place.run("context", "status", "--json", "--session", session, "--window", "30000")
    assert json.loads(flag.stdout)["window_detail"] == "your setting --window"


def test_a_model_has_its_own_window_and_thresholds(place, session: Path) -> None:
    model = json.loads(place.run("context", "status", "--json", "--session", session).stdout)[
        "model"
    ]
    configure(
        place,
        f"compaction:\n  modelOverrides:\n    {model.rpartition('/')[2]}:\n"
        "      contextWindow: 40000\n      reserveTokens: 25000\n",
    )
    report = json.loads(place.run("context", "status", "--json", "--session", session).stdout)
    assert (report["window_tokens"], report["reserve_tokens"]) == (40_000, 25_000)
