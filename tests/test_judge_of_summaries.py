"""The judge of summaries says right and wrong where a reader would."""

import gzip
import json
from pathlib import Path

import label
import pytest
from matching import is_cut, matches

ENTRIES = (
    {"type": "user", "text": "Please move the export\nto a queue."},
    {"type": "call", "arguments": '{"plan": [{"step": "Write the worker"}]}', "n": 3},
)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "a-1.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join(json.dumps(e).encode() for e in ENTRIES)))
    return path


def converted(written: dict[str, object], session: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the converter on a labeller's file; its exit code."""
    folder = session.parent / "written"
    folder.mkdir()
    (folder / "a-1.json").write_text(json.dumps(written), "utf-8")
    places = (str(folder), str(session.parent / "out"), str(session.parent))
    monkeypatch.setattr("sys.argv", ["label.py", *places])
    with pytest.raises(SystemExit) as ended:
        label.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_label_says_where_its_quote_stands_and_not_what_it_says(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, object] = {
        "topic": {"quotes": [{"line": 1, "text": "move the export to a queue"}]},
        "next_step": {"quotes": [{"line": 2, "text": "Write the worker"}]},
        "open_items": [{"line": 2, "text": "Write the worker", "what": "secret", "wanted": False}],
    }
    assert converted(written, session, monkeypatch) == 0
    file = session.parent / "out" / "a-1.json"
    assert "worker" not in file.read_text("utf-8")
    assert "secret" not in file.read_text("utf-8")
    lines, labels = label.LabelledLines(session), label.read_labels(file)
    assert labels.sha256 == lines.sha256
    quoted = [(item.kind, item.wanted, lines.quote(item.quotes[0])) for item in labels.items]
    assert quoted == [
        ("topic", True, "move the export\nto a queue"),
        ("next", True, "Write the worker"),
        ("open", False, "Write the worker"),
    ]


def test_a_quote_that_is_not_on_its_line_is_refused(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, object] = {"constraints": [{"line": 1, "text": "Write the worker"}]}
    assert converted(written, session, monkeypatch) == 1
    assert not (session.parent / "out" / "a-1.json").exists()


@pytest.mark.parametrize(
    ("line", "quote"),
    [
        ("asked: Move the export to a queue", "move the **export** to a queue."),
        ("Yes (in reply to: Shall I move the export?)", "yes"),
        ("no, use the queue (in reply to: Queue or cron?)", "no, use the queue"),
        ("エクスポートをキューに移してください。", "エクスポートをキューに移して"),
        ("move the exports to the queue today", "Move the export to the queue"),
    ],
)
def test_lines_that_say_what_was_labelled_match(line: str, quote: str) -> None:
    assert matches(line, ["something else entirely", quote])


@pytest.mark.parametrize(
    ("line", "quote"),
    [
        ("", ""),
        ("yes", "yes, move the export to a queue"),
        ("Move the export to a queue", "Write the worker and its test"),
    ],
)
def test_other_lines_do_not_match(line: str, quote: str) -> None:
    assert not matches(line, [quote])


def test_a_line_is_cut_where_its_session_goes_on_with_the_word() -> None:
    session = "Please move the export of invoices to a queue. 輸出をキューに移してください"
    assert is_cut("Please move the export of invo…", session)
    assert is_cut("…ease move the export of invoices", session)
    assert not is_cut("Please move the export of…", session)
    assert not is_cut("asked: move the export of invoices", session)
    assert not is_cut("輸出をキューに移して…", session)


def test_labels_of_recorded_sessions_hold_no_words_of_theirs() -> None:
    folder = Path(label.__file__).parent / "labels"
    files = sorted(folder.glob("*/*.json"))
    assert {file.parent.name for file in files} == {"heldout", "tuned"}
    for file in files:
        labels = label.read_labels(file)
        assert labels.session == file.stem
        assert labels.source is not None
        for item in labels.items:
            assert item.kind in {"topic", "next", *label.KINDS.values()}
            assert item.quotes or item.kind == "next", file.stem
            assert not item.what
            for quote in item.quotes:
                assert not quote.text
                assert quote.line > 0
                assert quote.length > 0


def test_labels_of_our_own_sessions_quote_them_word_for_word() -> None:
    folder = Path(label.__file__).parent / "reading"
    sessions = label.list_sessions([folder])
    assert len(sessions) >= 6
    for name, path in sessions.items():
        labels, lines = label.read_labels(folder / f"{name}.json"), label.LabelledLines(path)
        assert labels.sha256 == lines.sha256
        for item in labels.items:
            for quote in item.quotes:
                assert lines.quote(quote) == quote.text, name
