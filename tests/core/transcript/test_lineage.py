"""After a repair each record has a parent that is there, and none is its own ancestor."""

from hypothesis import given
from hypothesis import strategies as st

from ullage.core.transcript.lineage import Node, find_lineage_faults, path_of, reconnect_nodes


@st.composite
def trees(draw: st.DrawFn) -> tuple[Node, ...]:
    n = draw(st.integers(0, 30))
    ids = [f"e{at}" for at in range(n)]
    parents = st.none() | st.sampled_from([*ids, "missing"])
    return tuple(
        Node(
            entry_id=one,
            parent_id=draw(parents),
            is_main=draw(st.sampled_from([True, True, False])),
        )
        for one in ids
    )


@given(trees())
def test_nothing_is_missing_or_circular_after_a_repair(nodes: tuple[Node, ...]) -> None:
    mended = reconnect_nodes(nodes)
    assert find_lineage_faults(mended) == ()
    assert [node.entry_id for node in mended] == [node.entry_id for node in nodes]
    at_of = {node.entry_id: at for at, node in enumerate(nodes)}
    for at, (before, after) in enumerate(zip(nodes, mended, strict=True)):
        stands_above = before.parent_id is None or at_of.get(before.parent_id, at) < at
        assert after == before or not stands_above
    assert reconnect_nodes(mended) == mended


def test_a_file_that_needs_a_round_for_each_record_still_comes_to_an_end() -> None:
    # Each loop that is cut closes the next one.
    n = 200
    nodes = [Node(entry_id="e0", parent_id=None)]
    for at in range(1, n, 2):
        nodes.append(Node(entry_id=f"e{at}", parent_id=f"e{at + 1}"))
        nodes.append(Node(entry_id=f"e{at + 1}", parent_id=f"e{min(at + 2, n)}"))
    assert find_lineage_faults(reconnect_nodes(nodes)) == ()


def test_a_path_ends_where_its_beginning_is_lost() -> None:
    nodes = [
        Node(entry_id="a", parent_id=None),
        Node(entry_id="b", parent_id="missing"),
        Node(entry_id="c", parent_id="b"),
        Node(entry_id="beside", parent_id="a", is_main=False),
    ]
    assert path_of(nodes) == {1, 2}
    assert [fault.code for fault in find_lineage_faults(nodes)] == ["missing-parent"]
