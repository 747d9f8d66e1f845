"""The focus: what of a session speaks of the words that a user asked a summary to keep."""

import re
from collections import Counter
from collections.abc import Sequence

from ullage.core.facts.summary_sections import FOCUS
from ullage.core.text.identifiers import contains_whole
from ullage.core.text.word_lists import word_list
from ullage.core.text.wording import read_wording

FOCUS_SHARE = 0.5
"""Share of a summary's budget that what matches the focus may take; docs/design/summaries.md."""
_MIN_STEM_CHARS = 4
_PARTS = re.compile(r"[^\W_]{2,}")


class Focus:
    """The words of a focus, made ready to be looked for."""

    def __init__(self, text: str | None) -> None:
        words = read_wording(text or "").words
        self.stems = {_stem(word) for word in words if len(word) > 2 or not word.isascii()}
        telling = self.stems - {_stem(word) for word in word_list("empty_stems").words}
        self.stems = telling or self.stems
        self._names = [name for name in (text or "").split() if len(name) > 2]

    def find(self, text: str) -> frozenset[str]:
        """Give the words of the focus that a text has, in any ending."""
        lower = text.lower()
        present = [stem for stem in self.stems if stem in lower]
        if not present:
            return frozenset()
        words = {word[0][: len(stem)] for stem in present for word in _PARTS.finditer(lower)}
        return frozenset(stem for stem in present if not stem.isascii() or stem in words)

    def rank(self, texts: Sequence[str]) -> list[tuple[float, int]]:
        """Give weight and place of the texts that match, those with rare words first."""
        matches = [(at, matched) for at, text in enumerate(texts) if (matched := self.find(text))]
        counts = Counter(stem for _, matched in matches for stem in matched)
        weights = {stem: 1 / counts[stem] ** 0.5 for stem in counts}
        ranked = [
            (len(stems) + sum(weights[stem] for stem in stems) + self._count_names(texts[at]), at)
            for at, stems in matches
        ]
        return sorted(ranked, key=lambda match: (-match[0], match[1]))

    def _count_names(self, text: str) -> int:
        """Count the words of the focus that stand in a text as they were written."""
        return sum(contains_whole(text, name) for name in self._names)


def _stem(word: str) -> str:
    return word[: max(_MIN_STEM_CHARS, len(word) - 2)] if word.isascii() else word


def misses_focus(summary: str, focus: str | None) -> bool:
    """Tell whether a summary that was to keep what matches a focus holds nothing of it."""
    wanted = Focus(focus)
    if not wanted.stems:
        return False
    return not any(wanted.find(line) for line in summary.split("\n") if not says_focus(line))


def says_focus(line: str) -> bool:
    """Tell whether a line of a summary only says what its focus was."""
    return line.startswith(f"- {FOCUS}")
