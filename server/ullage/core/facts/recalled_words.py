"""What an agent only repeats of what memory handed out to it, sentence by sentence."""

from collections.abc import Iterator, Sequence

from ullage.core.text.prose import collapse_spaces, remove_bold, remove_list_mark, split_sentences
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.recalled import list_recalled

_MIN_CHARS = 12
"""A shorter line stands in too many texts (chosen)."""


def list_recalled_lines(item: ContextItem) -> Iterator[str]:
    """Give the lines that memory handed out in a message."""
    for text in list_recalled(item):
        for line in text.split("\n"):
            if len(plain := _plain(line)) >= _MIN_CHARS:
                yield plain


def drop_recalled_sentences(said: str, recalled: Sequence[str]) -> str:
    """Leave out the sentences that hold a recalled line, or are a part of one."""
    if not recalled:
        return said
    return "\n".join(_drop_in_line(line, recalled) for line in said.split("\n"))


def _drop_in_line(line: str, recalled: Sequence[str]) -> str:
    sentences = list(split_sentences(line))
    kept = [sentence for sentence in sentences if not _is_recalled(_plain(sentence), recalled)]
    return line if len(kept) == len(sentences) else " ".join(kept)


def _is_recalled(sentence: str, recalled: Sequence[str]) -> bool:
    is_long = len(sentence) >= _MIN_CHARS
    return any(line in sentence or (is_long and sentence in line) for line in recalled)


def _plain(line: str) -> str:
    return collapse_spaces(remove_bold(remove_list_mark(line.strip()))).rstrip(".!。")
