"""How many turns are left, by how the context grew."""

from pi_files import PiFile
from reading import read_context
from ullage.core.gauge.forecast import list_turn_growth


def test_a_prune_leaves_the_growth_of_the_turns_before_it() -> None:
    pi = PiFile()
    for usage in (10_000, 20_000, 32_000, 46_000):
        pi.user("go on")
        pi.assistant("done", usage=usage)
    pi.entry("custom", customType="ullage.prune", data={"tokensAfter": 9_000, "pruned": 3})
    for usage in (15_000, 22_000):
        pi.user("go on")
        pi.assistant("done", usage=usage)
    context = read_context(pi.data)
    growth = list_turn_growth(context.items, is_pruned=context.pruned is not None)
    assert growth == (10_000, 12_000, 14_000, 7_000)
