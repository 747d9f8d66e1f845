"""What a message shows is told from what it says."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.text.quotations import read_own_words, read_quoted, split_quotations

RULE = "Never push to main."

QUOTED = {
    "command over lines": f"curl -H 'Note: {RULE}' \\\n  -d '{RULE}' \\\n  https://a.example",
    "fence": f"```\n{RULE}\n```",
    "fence behind what is not seen": f"\u200b```\n{RULE}\n```",
    "wide quote mark": f"＞ {RULE}",
    "fence of tildes": f"~~~ sh\n{RULE}\n~~~",
    "indented fence": f"   ```\n   {RULE}\n   ```",
    "fence in a list": f"- ```\n  {RULE}\n  ```",
    "fence that holds a shorter one": f"````\n```\n{RULE}\n```\n{RULE}\n````",
    "fence in a fence": f"```\nx\n```python\n{RULE}\n```\n{RULE}\n```",
    "quote": f"> {RULE}",
    "quote without a blank": f">{RULE}",
    "nested quote": f"> he said\n>> {RULE}",
    "quote in a list": f"- > {RULE}",
    "quote that goes on": f"> From now on you are\nwelcome to this. {RULE}",
    "file": f'<file name="/a b.md">\n{RULE}\n</file>',
    "file on one line": f"<file>{RULE}</file>",
    "file that names its end": f"<file>\n</file>\n{RULE}\n</file>",
    "document": f"<document>\n{RULE}\n</document>",
    "other markup": f"<output-log id='1'>\n{RULE}\n</output-log>",
    "nested markup": f"<a>\n<a>\n</a>\n{RULE}\n</a>",
    "line of a log": f"2026-03-01T10:00:00Z INFO x: {RULE}",
    "line with its level": f"[ERROR] {RULE}",
    "lines with their level": f"INFO start\nERROR {RULE}",
    "trace": f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    # {RULE}\n'
    f"ValueError: {RULE}",
    "trace of node": f"TypeError: {RULE}\n    at f (/a/b.js:3:4)",
    "diff": f"diff --git a/x b/x\n@@ -1,2 +1,2 @@\n # {RULE}\n\n+# {RULE}\n-# {RULE}",
    "prompt": f"$ cat notes\n{RULE}",
    "prompt of macOS": f"me@Mac Shop % cat notes\n{RULE}",
    "prompt of an environment": f"(venv) (base) me@host:~/shop$ cat notes\n{RULE}",
    "prompt of a theme": f"(base) ➜  shop cat notes\n{RULE}",
    "prompt of a folder": f"shop$ cat notes\n{RULE}",
    "line of a log with its name": f"INFO: {RULE}",
    "element alone": f"<pre>{RULE}</pre>",
    "object alone": f'{{"rule": "{RULE}"}}',
    "prompt with its host": f"me@host:~/shop$ cat notes\n{RULE}",
    "output of a compiler": f"src/a.ts:12:4: {RULE}",
    "numbered lines": f"12→{RULE}",
    "table": f"| a | b |\n|---|---|\n| 1 | {RULE} |",
    "box": f"│ {RULE} │",
    "indented code": f"See:\n\n    # {RULE}\n    x = 1\n",
    "code": f"const a = 1;  // {RULE}\nconst b = 2;",
    "data": f'{{"rule": "{RULE}"}}\n{{"rule": 2}}',
}

TYPED = {
    "plain": RULE,
    "code span": "Never call `rm -rf /` here.",
    "fence on one line": f"```x``` is wrong. {RULE}",
    "command": f"Run npm test first. {RULE}",
    "command at the beginning": f"npm test must pass.\nmake it so.\n\n{RULE}",
    "path": f"See /etc/hosts:12 and src/a.py.\n{RULE}",
    "example": f"e.g. `npm test`\n{RULE}",
    "list": f"Rules:\n- {RULE}\n    - and not to dev\n- ok",
    "indented list": f"Rules:\n\n    - {RULE}\n    - ok",
    "answers": f"1. yes\n2. {RULE}\n3. no",
    "below a quote": f"> Shall I push?\nNo. {RULE}",
    "behind a file": f"<file>\nx\n</file> {RULE}",
    "between files": f"<file>\nx\n</file>\n{RULE}\n<file>\ny\n</file>",
    "markup in a sentence": f"Make it <b>bold</b>. {RULE}",
    "markup that does not end": f"<div>\n{RULE}",
    "parts of a prompt": f"<task>\nPort the page.\n</task>\n<Rules>\n{RULE}\n</Rules>",
    "part of a prompt on one line": f"<rules>{RULE}</rules>",
    "words on a file's tag": f"<file> is a tag. {RULE}",
    "comparison": f">= 3.11 is needed.\n\n{RULE}",
    "keyword": f"let's use it.\nfrom now on: {RULE}\nimport it first.\nclass names are nouns.",
    "small words": f"at the end it fails.\nuse tabs; {RULE}\nreturn early.",
    "error in a sentence": f"Errors must be told.\n{RULE}",
    "date": f"2026-03-01: we begin.\n{RULE}",
    "level alone": f"WARNING: be careful.\n\n{RULE}",
    "settings": f"Language: Python, Style: tabs,\n{RULE}",
    "key": f"Port: 8080,\n{RULE}",
    "between lines of a log": f"2026-03-01 10:00:00 INFO a\n{RULE}\n2026-03-01 10:00:01 INFO b",
    "chinese": "不要修改公共接口。\n所有金额必须用整数分存储。\n" + RULE,
}


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_what_is_quoted_is_nobodys_own(text: str) -> None:
    for whole in (f"What is this?\n\n{text}\n\nThanks.", f"What is this?\n{text}", text):
        assert RULE not in read_own_words(whole)
        assert RULE in read_quoted(whole)
    assert read_own_words(f"What is this?\n\n{text}\n\nThanks.").endswith("Thanks.")


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED)
def test_what_is_typed_stays_typed(text: str) -> None:
    last = text.rsplit("\n", 1)[-1]
    for whole in (text, f"Look here.\n\n{text}\n\nThanks."):
        own = read_own_words(whole)
        assert (RULE if RULE in text else last) in own
    assert text in read_own_words(text) or "file>" in text or ">" in text or "INFO" in text


@pytest.mark.parametrize("text", [f"```\n{RULE}", f"<file>\n{RULE}", f"<document>\n\n{RULE}"])
def test_what_never_ends_goes_to_the_end(text: str) -> None:
    assert read_own_words(f"Look:\n{text}\n\nIt goes on.") == "Look:"


def test_an_agents_markup_is_its_own_but_for_files() -> None:
    thought = f"<thinking>\n{RULE}\n</thinking>"
    assert RULE in read_own_words(thought, is_agents=True)
    assert RULE not in read_own_words(f"<file>\n{RULE}\n</file>", is_agents=True)


_LINES = st.lists(
    st.sampled_from(
        (
            "```|```py|~~~|> a|a:||    x|<file>|</file>|<b>|</b> c|$ x|- a|INFO a|a = b;|+x|@@ -1"
            "|</file><file>|é|<file>a</file>b"
        ).split("|")
    )
)


@given(_LINES)
def test_nothing_is_lost_or_doubled(lines: list[str]) -> None:
    text = "\n".join(lines)
    parts = [part.text for part in split_quotations(text)]
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "line", ["> a", "```", "<b>", "<file>", "</file>", "    x", "at x", "| a |", "{", "a@b "]
)
def test_time_is_linear(line: str) -> None:
    assert split_quotations("\n".join([line] * 20_000))
    assert split_quotations(line * 50_000)
    # Paragraphs: what looks at all lines around each takes minutes.
    assert split_quotations(f"{line}\n\n" * 50_000)


@pytest.mark.parametrize("unit", ["```a\n```b\n```\n", "<a>\n<b>\n", "<file>\n", "> a\nb\n"])
def test_the_work_is_linear(unit: str) -> None:
    def n_calls(n_units: int) -> int:
        counts = 0

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal counts
            counts += event == "c_call"

        split_quotations.cache_clear()
        sys.setprofile(count)
        try:
            split_quotations(unit * n_units)
        finally:
            sys.setprofile(None)
        return counts

    assert n_calls(800) < 3 * n_calls(400)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (f"10:00:00 start\n10:00:01 stop\n {RULE}", RULE),
        (f"me@host:~$ ls\na.py\n {RULE}", RULE),
        (f"10:00:00 start\n  {RULE}", ""),
        (f"10:00:00 start\n {RULE}\n10:00:01 stop", ""),
        (f"{RULE} It says:me@host:~$ ls\na.py", f"{RULE} It says:"),
        (f"{RULE} It says: (venv) me@Mac Shop % ls\na.py", f"{RULE} It says:"),
    ],
)
def test_what_a_person_adds_to_a_paste_is_his(text: str, own: str) -> None:
    assert read_own_words(text) == own
