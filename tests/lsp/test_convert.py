"""Values of the core as types of the protocol."""

from pathlib import Path

import msgspec
import pytest
from lsprotocol.types import DiagnosticSeverity

from pi_files import MODEL, PiFile
from running import Place
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config
from ullage.lsp.convert import path_of, uri_of
from ullage.lsp.documents.diagnostics import utilization
from ullage.lsp.views.gauge import NO_GAUGE, gauge_params


def loaded(place: Place, pi: PiFile) -> Loaded:
    place.let_pi_fill_its_window()
    path = place.write("s.jsonl", pi.data)
    places = place.places()
    return load(open_session(path), Config(), places)


def used(n_tokens: int) -> PiFile:
    pi = PiFile()
    pi.user("hello")
    pi.assistant("hi", usage=n_tokens, model=MODEL)
    return pi


@pytest.mark.parametrize(
    ("n_tokens", "level", "severity"),
    [
        (2_000, "normal", None),
        (139_999, "normal", None),
        (140_000, "normal", DiagnosticSeverity.Information),
        (160_000, "warning", DiagnosticSeverity.Warning),
        (189_999, "warning", DiagnosticSeverity.Warning),
        (190_000, "error", DiagnosticSeverity.Error),
        (200_000, "error", DiagnosticSeverity.Error),
        (260_000, "normal", None),  # disproves the window: 26 % of the next larger one
    ],
)
def test_the_fuller_the_context_the_louder(
    place: Place, n_tokens: int, level: str, severity: DiagnosticSeverity | None
) -> None:
    session = loaded(place, used(n_tokens))
    assert gauge_params(session).level == level
    found = [finding.severity for finding in utilization(session)]
    assert found == ([] if severity is None else [severity])


def test_a_finding_by_an_uncertain_window_says_so(place: Place) -> None:
    [finding] = utilization(loaded(place, used(990_000)))
    assert finding.message.endswith("But the window turned out to be larger than known.")


def test_a_gauge_says_what_it_is_in_words(place: Place) -> None:
    gauge = gauge_params(loaded(place, used(182_000)))
    assert gauge.text == "91%"
    words = "Context 91% used, 182,000 of 200,000 tokens, warning"
    assert gauge.label == f"{words}; {gauge.title}"
    assert gauge.session is not None
    assert gauge.session.sessionId == "019c2f00-0000-7000-8000-000000000001"


def test_a_gauge_that_was_only_counted_is_marked(place: Place) -> None:
    pi = PiFile()
    pi.user("hello")
    assert gauge_params(loaded(place, pi)).text == "~0%"


def test_above_the_last_trigger_the_finding_says_what_to_do_now(place: Place) -> None:
    (finding,) = utilization(loaded(place, used(199_000)))
    assert finding.message.endswith("Prune or compact it now.")
    (finding,) = utilization(loaded(place, used(165_000)))
    assert finding.message.endswith(" at 176,000, in 11,000 tokens.")


@pytest.mark.parametrize(
    "model", ["[x](command:evil)", "<b>bold</b>", "a`b`c", "**x**", "![i](http://x)", "$(pulse)"]
)
def test_nothing_of_a_session_is_markdown_in_the_hover(place: Place, model: str) -> None:
    pi = PiFile()
    pi.assistant("hi", usage=100, model=model)
    tooltip = gauge_params(loaded(place, pi)).tooltip
    assert model not in tooltip
    assert "".join(c for c in model if c.isalnum()) in "".join(c for c in tooltip if c.isalnum())


def test_a_model_with_line_ends_starts_no_paragraph_in_the_hover(place: Place) -> None:
    pi = PiFile()
    pi.assistant("hi", usage=100, model="gpt\n\nNext: all is well")
    plain = PiFile()
    plain.assistant("hi", usage=100, model="gpt")
    expected = gauge_params(loaded(place, plain)).tooltip.count("\n\n")
    assert gauge_params(loaded(place, pi)).tooltip.count("\n\n") == expected


def test_a_session_id_cannot_leave_its_code_span(place: Place) -> None:
    pi = PiFile(session_id="a`[x](y)")
    pi.assistant("hi", usage=100)
    assert "`[x](y)" not in gauge_params(loaded(place, pi)).tooltip


@pytest.mark.parametrize("name", ["s.jsonl", "a b.jsonl", "ü#?.jsonl", "100%.jsonl"])
def test_a_path_comes_back_from_its_uri(tmp_path: Path, name: str) -> None:
    assert path_of(uri_of(tmp_path / name)) == tmp_path / name
    assert path_of((tmp_path / name).as_uri()) == tmp_path / name


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/x/y?z", "vscode-notebook-cell:x"])
def test_what_is_no_file_has_no_path(uri: str) -> None:
    assert path_of(uri) is None


def test_without_a_session_the_gauge_is_a_question_mark() -> None:
    assert (NO_GAUGE.text, NO_GAUGE.session, NO_GAUGE.level) == ("?", None, "normal")


def test_a_client_is_told_whether_a_session_may_be_changed(place: Place) -> None:
    session = loaded(place, used(1_000))
    gauge = gauge_params(session)
    assert (gauge.canWrite, gauge.canNote) == (True, True)
    assert gauge.title == "hello · pi / OpenClaw · 00000001"
    assert not gauge_params(session, is_restricted=True).canNote
    policy = msgspec.structs.replace(session.policy, is_read_only=True)
    gauge = gauge_params(msgspec.structs.replace(session, policy=policy))
    assert (gauge.canWrite, gauge.canNote) == (False, False)
