"""Answers by which a search of memory is measured stand on the pages: one line each."""

from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[1]


class Answer(msgspec.Struct, frozen=True):
    path: str
    answer: str
    also: tuple["Answer", ...] = ()


class Questions(msgspec.Struct, frozen=True):
    docs: tuple[Answer, ...]
    docs_looked_up_again: tuple[Answer, ...]
    docs_plain: tuple[Answer, ...]


def test_each_answer_stands_on_exactly_one_line() -> None:
    data = (ROOT / "benchmarks/memory/questions.json").read_bytes()
    found = msgspec.json.decode(data, type=Questions)
    asked = (*found.docs, *found.docs_looked_up_again, *found.docs_plain)
    pieces = [piece for each in asked for piece in (each, *each.also)]
    astray = [
        f"{piece.path}: {piece.answer}"
        for piece in pieces
        if sum(piece.answer in line for line in _lines(piece.path)) != 1
    ]
    assert not astray, "change the answers in questions.json along with their pages"
    assert len(asked) == 90


def _lines(path: str) -> list[str]:
    return (ROOT / path).read_text("utf-8").split("\n")
