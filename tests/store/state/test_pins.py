"""Pins on disk survive what may happen to a small file."""

import msgspec
import pytest

from ullage.core.facts.pins import Pin
from ullage.errors import StorageError
from ullage.store.files.places import Places
from ullage.store.state.pins import PINS_FILE, change_pins, pins_path, read_pins

PINS = (Pin(text="Never push.\n\tNever."), Pin(text="the plan ☃", entry_id="e1", label="plan"))


def test_what_was_pinned_is_read_back(places: Places) -> None:
    path = pins_path("claude-code:a/b", places)
    assert read_pins(path).pins == ()
    change_pins(path, lambda pins: (*pins, *PINS), places)
    assert read_pins(path).pins == PINS
    assert path.parent.parent == places.state_folder / "context" / "state"
    change_pins(path, lambda pins: pins[1:], places)
    assert read_pins(path).pins == PINS[1:]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"version": 1}', b'{"version": 1, "pins": [{}]}', b"\xff" * 9]
)
def test_a_damaged_file_is_told_of_and_moved_aside_before_it_is_replaced(
    places: Places, data: bytes
) -> None:
    path = pins_path("s1", places)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    assert "damaged" in (read_pins(path).problem or "")
    assert path.read_bytes() == data
    changed = change_pins(path, lambda pins: (*pins, PINS[0]), places)
    assert "pins.json.corrupt-1" in (changed.problem or "")
    assert path.with_name("pins.json.corrupt-1").read_bytes() == data
    assert read_pins(path).pins == PINS[:1]
    path.write_bytes(data)
    change_pins(path, lambda pins: pins, places)
    assert path.with_name("pins.json.corrupt-2").read_bytes() == data


def test_the_file_of_a_newer_version_is_left_alone(places: Places) -> None:
    path = pins_path("s1", places)
    path.parent.mkdir(parents=True)
    data = msgspec.json.encode({"version": PINS_FILE.version + 1, "pins": {"a": "b"}})
    path.write_bytes(data)
    assert "newer version" in (read_pins(path).problem or "")
    with pytest.raises(StorageError, match="newer version"):
        change_pins(path, lambda pins: (*pins, PINS[0]), places)
    assert [found.name for found in path.parent.iterdir()] == ["pins.json"]
    assert path.read_bytes() == data


def test_a_change_that_fails_leaves_the_pins_as_they_were(places: Places) -> None:
    path = pins_path("s1", places)
    change_pins(path, lambda _: PINS, places)

    def refuse(_: tuple[Pin, ...]) -> tuple[Pin, ...]:
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        change_pins(path, refuse, places)
    assert read_pins(path).pins == PINS
