"""Parts add up to what was reported, and no text is counted twice."""

from ullage.core.assembly.parts import BY_PROVIDER, UNREAD, Part, SentText, count_parts
from ullage.core.gauge.gauge import Gauge
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Message, Text


def item(text: str, role: str = "user") -> ContextItem:
    return ContextItem(
        entry_id=text[:8],
        message=Message(
            role="assistant" if role == "assistant" else "user", blocks=(Text(text=text),)
        ),
        category="assistant" if role == "assistant" else "user",
        native={},
        at_ms=None,
    )


def gauge(used: int) -> Gauge:
    return Gauge(
        used_tokens=used,
        used_source="reported",
        n_reported=used,
        n_noted=0,
        n_counted=0,
        window=Window(n_tokens=1_000, source="default", detail=""),
        utilization=used / 1_000,
    )


def sent(
    name: str, text: str, *, source: str = "in the transcript", inside: bool = False
) -> SentText:
    return SentText(name=name, text=text, source=source, category="bootstrap" if inside else None)


def named(parts: tuple[Part, ...]) -> dict[str, tuple[int, str, bool]]:
    return {part.name: (part.n_tokens, part.source, part.is_exact) for part in parts}


def test_what_stands_in_the_messages_is_no_part_of_the_conversation() -> None:
    items = (item("r" * 40), item("question" * 5), item("answer" * 10, "assistant"))
    texts = (sent("instructions", "r" * 40, source="/w/CLAUDE.md", inside=True),)
    parts = named(count_parts(texts, items, gauge(300), len))
    assert parts == {
        "system prompt and tools": (160, UNREAD, False),
        "instructions": (40, "/w/CLAUDE.md", True),
        "conversation": (100, "in the transcript", True),
    }


def test_what_is_beside_the_messages_is_taken_from_what_the_agent_adds() -> None:
    texts = (sent("system prompt", "s" * 50), sent("tools", "t" * 20), sent("tools", "u" * 10))
    parts = named(count_parts(texts[:1], (item("x" * 100),), gauge(300), len))
    assert parts["tools"] == (150, UNREAD, False)
    parts = named(count_parts(texts, (item("x" * 100),), gauge(300), len))
    assert (parts["tools"], parts["other"]) == (
        (30, "in the transcript", True),
        (120, BY_PROVIDER, False),
    )
    assert sum(n_tokens for n_tokens, _, _ in parts.values()) == 300


def test_files_are_parts_of_their_own_and_one_that_was_read_anew_is_told_apart() -> None:
    first = sent("instructions", "a" * 10, source="/w/AGENTS.md", inside=True)
    other = sent("instructions", "b" * 20, source="/w/sub/AGENTS.md", inside=True)
    parts = count_parts(
        (first, other, first), (item("a" * 10 + "b" * 20 + "a" * 10),), gauge(0), len
    )
    assert [(part.source, part.n_tokens) for part in parts] == [
        ("/w/AGENTS.md", 20),
        ("/w/sub/AGENTS.md", 20),
    ]


def test_a_file_that_is_more_than_all_that_was_reported_is_told() -> None:
    texts = (sent("instructions", "r" * 400, source="/w/CLAUDE.md"), sent("tools", "t" * 50))
    parts = count_parts(texts, (item("x" * 100),), gauge(300), len)
    told = {part.name: part.cut for part in parts}
    assert told["instructions"].startswith("some of it")
    assert (told["tools"], told["conversation"]) == ("", "")
