"""Every field of a checkpoint is in every output, or its row says why it is not."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import msgspec
import pytest
from msgspec import inspect

from ullage.app.change.checkpoint_report import difference_lines
from ullage.app.checkpoint.find import Difference, SavedCheckpoint
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.checkpoint.diff import diff
from ullage.core.checkpoint.fields import FIELDS, Field, InSteering, InText, LeftOut, read_field
from ullage.core.checkpoint.text import render_for_agent, write_steering
from ullage.store.checkpoint.yaml_file import dump, load

N_ITEMS = 6
"""As many as make key exchanges worth a list."""
UNSAID = {
    "decisions.id": "it is another one for each decision",
    "decisions.when": "a comparison is of what was decided",
}
"""Fields of the items of a list that `read_field` leaves out, and why."""
Tree = dict[str, object]


def leaves(of: inspect.StructType, above: str = "") -> Iterator[tuple[str, inspect.Type]]:
    """Give the fields that hold no other fields, by their paths."""
    for field in of.fields:
        path = f"{above}{field.encode_name}"
        if isinstance(field.type, inspect.StructType):
            yield from leaves(field.type, f"{path}.")
        else:
            yield path, field.type


SCHEMA = cast(inspect.StructType, inspect.type_info(Checkpoint))
LEAVES = dict(leaves(SCHEMA))


def filled(of: inspect.Type, whose: str, path: str) -> object:
    """Make a value of a type, in which each text says where it stands."""
    match of:
        case inspect.StrType():
            return f"{whose}'s {path}"
        case inspect.BoolType():
            return whose == "old"
        case inspect.IntType() | inspect.FloatType():
            return len(whose)
        case inspect.LiteralType():
            return of.values[0 if whose == "old" else -1]
        case inspect.VarTupleType():
            return [filled(of.item_type, whose, f"{path} {n}") for n in range(N_ITEMS)]
        case inspect.UnionType():
            return filled(of.types[0], whose, path)
        case inspect.StructType():
            parts = {one.encode_name: one.type for one in of.fields}
            return {
                name: filled(part, whose, f"{path}.{name}".lstrip("."))
                for name, part in parts.items()
            }
        case _:
            raise AssertionError(f"{path}: say here how to make one")


OLD, NEWER = (msgspec.convert(filled(SCHEMA, whose, ""), Checkpoint) for whose in ("old", "newer"))
TEXT = render_for_agent(NEWER, budget_tokens=100_000, count=len)
STEERING = write_steering(NEWER, max_chars=100_000)
each_field = pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.path)


def test_each_field_of_the_schema_has_a_row() -> None:
    rows = [field.path for field in FIELDS]
    assert [path for path in LEAVES if path not in rows] == []
    assert [path for path in rows if path not in LEAVES] == []
    assert len(set(rows)) == len(rows)


def test_each_field_of_an_item_is_read_or_has_a_reason() -> None:
    unsaid: set[str] = set()
    for path, of in LEAVES.items():
        value = filled(of, "newer", path)
        item = cast("list[object]", value)[0] if isinstance(value, list) else value
        parts = cast(Tree, item).items() if isinstance(item, dict) else ()
        said = read_field(NEWER, path)[0]
        unsaid |= {f"{path}.{name}" for name, part in parts if str(part) not in said}
    assert unsaid == set(UNSAID)


@each_field
def test_a_comparison_has_it_or_its_row_says_why_not(field: Field) -> None:
    changes = tuple(change for change in diff(OLD, NEWER) if change.field == field.path)
    found = [SavedCheckpoint(checkpoint=one, path=Path("cp_001.yaml")) for one in (OLD, NEWER)]
    lines = difference_lines(Difference(old=found[0], new=found[1], changes=changes), 100)
    if isinstance(field.compared, LeftOut):
        assert changes == ()
        assert field.compared.why
    else:
        assert lines[1][1].startswith(f"{field.label}:")


@each_field
def test_the_text_for_the_agent_has_it_or_its_row_says_why_not(field: Field) -> None:
    says = f"newer's {field.path}" if field.path != "working.status" else NEWER.working.status
    if isinstance(field.text, InText):
        assert field.text.heading in TEXT
        assert says in TEXT
    else:
        assert says not in TEXT
        assert field.text.why


@each_field
def test_steering_has_it_or_its_row_says_why_not(field: Field) -> None:
    if isinstance(field.steering, InSteering):
        assert f"{field.steering.heading}\n- newer's {field.path}" in STEERING
    else:
        assert f"newer's {field.path}" not in STEERING
        assert field.steering.why


@each_field
def test_a_file_has_it_unless_it_is_optional_and_empty(field: Field) -> None:
    tree = cast(Tree, msgspec.to_builtins(NEWER))
    *above, name = field.path.split(".")
    part = tree
    for step in above:
        part = cast(Tree, part[step])
    assert load(dump(NEWER)) == NEWER
    if isinstance(LEAVES[field.path], inspect.VarTupleType):
        part[name] = []
        empty = msgspec.convert(tree, Checkpoint)
        assert load(dump(empty)) == empty
        assert (f"{name}:".encode() in dump(empty)) is not field.is_optional
    else:
        assert not field.is_optional


def test_a_list_that_files_may_lack_is_left_out_where_it_is_empty() -> None:
    lists = {field.name: field for field in SCHEMA.fields if field.name in LEAVES}
    tuples = {name for name, of in LEAVES.items() if isinstance(of, inspect.VarTupleType)}
    assert {name for name, field in lists.items() if not field.required} & tuples == {
        field.path for field in FIELDS if field.is_optional
    }


def test_each_list_has_a_section_of_its_own() -> None:
    for kind in ("text", "steering"):
        places = [getattr(field, kind) for field in FIELDS if field.compared != "text"]
        sections = [place.section for place in places if not isinstance(place, LeftOut)]
        assert len(set(sections)) == len(sections)
