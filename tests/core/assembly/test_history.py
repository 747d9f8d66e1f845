"""The history of a request: the latest summary first, then what was kept."""

from msgspec.structs import replace

from factories import assistant, context_of, harness, summary, user
from ullage.core.assembly.history import build_session_history
from ullage.core.transcript.context import Compaction, Context, ContextItem
from ullage.core.transcript.entries import JsonObject, plain_text
from ullage.formats.in_memory import as_system_message


def compacted(text: str, *items: ContextItem) -> Context:
    boundary = Compaction(entry_id="e99", at_ms=None, summary=text)
    return replace(context_of(items), boundary=boundary)


def list_messages(context: Context) -> list[JsonObject]:
    return [{"content": plain_text(item.message)} for item in context.items]


def messages_of(context: Context) -> list[JsonObject]:
    return list(build_session_history(context, as_system_message).messages(list_messages))


def test_the_summary_is_the_first_message_as_the_reference_has_it() -> None:
    context = compacted("We built the mill.", summary("Intro. We built the mill."), user("Go on"))
    assert messages_of(context) == [
        {"role": "system", "content": "[Prior conversation summary]\nWe built the mill."},
        {"content": "Go on"},
    ]


def test_a_session_without_a_compaction_is_as_it_is() -> None:
    assert messages_of(context_of([user("Hello")])) == [{"content": "Hello"}]


def test_what_stands_before_the_summary_and_a_branchs_own_summary_are_kept() -> None:
    context = compacted("S", harness("env"), summary("S"), user("Go on"), summary("Of a branch"))
    told = [message["content"] for message in messages_of(context)[1:]]
    assert told == ["env", "Go on", "Of a branch"]


def test_a_summary_that_has_a_request_of_its_own_goes_with_it() -> None:
    context = compacted("S", summary("What did we do so far?"), summary("S"), assistant("Done"))
    assert [message["content"] for message in messages_of(context)[1:]] == ["Done"]


def test_a_summary_that_nobody_can_read_stays_where_it_is() -> None:
    context = compacted("", summary("gAAAA"), user("Go on"))
    assert [message["content"] for message in messages_of(context)] == ["gAAAA", "Go on"]


def test_its_tokens_are_those_of_the_summary_and_of_what_was_kept() -> None:
    history = build_session_history(compacted("S", summary("S"), user("four")), as_system_message)
    assert history.count_tokens(len) == len("[Prior conversation summary]\nS") + len("four")
