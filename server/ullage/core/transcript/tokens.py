"""Tokens of messages, counted by a given function, or estimated without a tokenizer."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeAlias

from ullage.core.transcript import entries
from ullage.core.transcript.agent_lines import IMAGE_TOKENS
from ullage.core.transcript.context import ContextItem

Count: TypeAlias = Callable[[str], int]
"""Counts the tokens of a text."""
_COSTS = (
    # Pattern, tokens of a run, characters that they are good for, tokens of each further one.
    (r" [A-Z]?[a-z]+", 0.98, 8, 0.17),
    # A word behind a mark or a capital: the part of a name, of a path or of an id.
    (r"[A-Z]?[a-z]+", 0.40, 5, 0.43),
    (r"[A-Z]+", 1.31, 3, 0.06),
    (r"[0-9]{1,3}", 1.49, 3, 0.0),
    (r"(?:-{4,}|={4,}|_{4,}|\*{4,}|\.{4,})", 1.2, 8, 0.03),
    # Punctuation, and characters that control a terminal: a token each.
    (r"[\x00-\x08\x0e-\x1b!-/:-@\[-`{-\x7f]+", 1.03, 2, 1.0),
    (r"\s*\n\s*", 0.3, 1, 0.0),
    (r"\s\s+", 1.15, 2, 0.0),
    (r"\s", 0.0, 1, 0.0),
    # Chinese, Japanese and Korean.
    (r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+", 0.71, 1, 0.71),
    # Greek, Cyrillic, Hebrew, Arabic and the scripts of India and Asia that part words.
    (r"[\u0370-\u1fff]+", 1.83, 12, 0.3),
    # A Latin letter with an accent parts its word.
    (r"[\u0080-\u036f]", 1.54, 1, 0.0),
    (r"[\u2000-\u2e7f]", 1.0, 1, 0.0),
    (r"[\s\S]", 2.5, 1, 0.0),
)
_EACH = ((0.0, 0, 0.0), *((each, n_free, more) for _, each, n_free, more in _COSTS))


def estimate(text: str) -> int:
    """Estimate without a tokenizer: four characters a token, rounded up."""
    return -(-len(text) // 4)


def count_items(items: Iterable[ContextItem], count: Count) -> int:
    return sum(count_message(item.message, count) for item in items)


def count_message(message: entries.Message, count: Count) -> int:
    return sum(count_block(block, count) for block in message.blocks)


def count_block(block: entries.Block, count: Count) -> int:
    match block:
        case entries.Text() | entries.Thinking():
            return count(block.text)
        case entries.Image():
            return IMAGE_TOKENS
        case entries.ToolCall():
            return count(block.name) + count(block.arguments)
        case entries.ToolResult():
            return sum(count_block(part, count) for part in block.content)


@cache
def _runs() -> re.Pattern[str]:
    # Not when this is imported: a status counts, and would pay 2 ms for it.
    return re.compile("|".join(f"({pattern})" for pattern, *_ in _COSTS))


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text; of a checkpoint's text within a tenth of tiktoken's count.

    Takes some 0.3 µs a character.
    """
    total = 0.0
    for run in _runs().finditer(text):
        each, n_free, more = _EACH[run.lastindex or 0]
        n_over = run.end() - run.start() - n_free
        total += each + more * n_over if n_over > 0 else each
    return -int(-total // 1)
