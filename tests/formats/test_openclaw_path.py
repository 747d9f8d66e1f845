"""The upward walk of the active path against reading the whole file, as pi does."""

from hypothesis import example, given, settings

from pi_files import PiFile, damaged_pi_files, pi_files
from profiles import examples
from ullage.core.transcript.entries import MemoryLines
from ullage.core.transcript.lineage import EMPTY_INDEX, chain
from ullage.formats.agents.openclaw.entries import read_header
from ullage.formats.agents.openclaw.path import (
    ActivePath,
    _all_entries,
    _path_of_all,
    _path_upwards,
    _TangledError,
    read_path,
)
from ullage.formats.agents.openclaw.projection import model_of, project


def essence(path: ActivePath) -> tuple[object, ...]:
    """Give what both ways must agree on: beyond the model, the dropped part does not matter."""
    refs = {ref.entry_id: ref for ref in path.refs}
    last_id = None if path.boundary is None else path.boundary.entry_id
    return (
        path.kept,
        path.boundary,
        path.after,
        project(path),
        model_of(path),
        chain(refs, last_id),
        path.n_entries,
        sorted((problem.offset, problem.message) for problem in path.problems),
    )


def whole(lines: MemoryLines, version: int) -> ActivePath:
    return _path_of_all(_all_entries(lines, version), version)


def same_line_twice() -> PiFile:
    pi = PiFile()
    pi.user("one")
    pi.raw(pi.lines[-1])
    return pi


@settings(max_examples=examples(200))
@given(pi_files(versions=(2, 3)))
def test_the_upward_walk_of_a_valid_file_equals_the_whole_reading(pi: PiFile) -> None:
    lines = MemoryLines(pi.data)
    upwards = _path_upwards(lines, pi.version, EMPTY_INDEX)
    assert essence(upwards) == essence(whole(lines, pi.version))


@settings(max_examples=examples(200))
@given(damaged_pi_files())
@example(same_line_twice())
def test_the_path_of_a_damaged_file_equals_the_whole_reading(pi: PiFile) -> None:
    lines = MemoryLines(pi.data)
    header = read_header(lines)
    assert header is not None
    path = read_path(lines, header, EMPTY_INDEX)
    assert essence(path) == essence(whole(lines, pi.version))


def test_an_entry_that_is_its_own_ancestor_is_reported_and_the_walk_ends() -> None:
    pi = PiFile()
    pi.leaf = "000000a1"  # the entry below
    pi.user("one")
    pi.user("two")
    header = read_header(MemoryLines(pi.data))
    assert header is not None
    path = read_path(MemoryLines(pi.data), header, EMPTY_INDEX)
    assert len(path.after) == 2
    assert "its own ancestor" in path.problems[-1].message


def test_ids_that_repeat_are_found_out_on_the_way_up() -> None:
    pi = same_line_twice()
    try:
        _path_upwards(MemoryLines(pi.data), 3, EMPTY_INDEX)
    except _TangledError:
        return
    raise AssertionError
