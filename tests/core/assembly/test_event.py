"""The event message: what the user said, and the files that came along."""

from ullage.core.assembly.event import EventMessage, Media, make_event_message


def content_of(event: EventMessage) -> object:
    return make_event_message(event)["content"]


def test_a_text_alone_is_the_message() -> None:
    assert make_event_message(EventMessage(text="Hello")) == {"role": "user", "content": "Hello"}


def test_a_file_is_named_before_the_text() -> None:
    event = EventMessage(text="Hello", media=(Media(path="/tmp/a.png", type="image/png"),))
    assert content_of(event) == "[media attached: /tmp/a.png (image/png)]\nHello"


def test_several_files_are_numbered() -> None:
    event = EventMessage(
        text="", media=(Media(path="/tmp/a.png"), Media(path="b\n]c  d", type="x"))
    )
    assert content_of(event) == (
        "[media attached: 2 files]\n"
        "[media attached 1/2: /tmp/a.png]\n"
        "[media attached 2/2: b ]c  d (x)]"
    )
