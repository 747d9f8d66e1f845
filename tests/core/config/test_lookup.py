"""Which key stands at a place, however it is spelled and nested."""

import pytest

from ullage.core.config.lookup import key_at, spelled_at
from ullage.store.config.yaml_tree import parse_yaml

TEXT = """\
gauge:
  trigger: 60
agents:
  defaults:
    compaction:
      keepRecentTokens: 5000
      modelOverrides:
        gpt-4.1:
          layers: { summarize: { trigger: 80 } }
          contextWindow: 100000
compaction.autoEnabled: false
other: 1
"""


@pytest.mark.parametrize(
    ("at", "name"),
    [
        ("trigger: 60", "gauge.trigger"),
        ("60", "gauge.trigger"),
        ("keepRecent", "compaction.layers.summarize.protectRecentTokens"),
        ("trigger: 80", "compaction.layers.summarize.trigger"),
        ("contextWindow", "contextWindow"),
        ("compaction.auto", "compaction.autoEnabled"),
        ("other", None),
        ("defaults", None),
    ],
)
def test_the_key_is_found(at: str, name: str | None) -> None:
    found = key_at(parse_yaml(TEXT), TEXT.index(at))
    assert (None if found is None else found.key.name) == name


@pytest.mark.parametrize(
    ("text", "name", "spelled"),
    [
        ("gauge:\n  triger: 60\n", "gauge.trigger", "trigger"),
        ("gauge.triger: 60\n", "gauge.trigger", "gauge.trigger"),
        ("compaction:\n  triger: 60\n", "gauge.trigger", None),
        (
            "compaction:\n  layers:\n    prune: {triger: 1}\n",
            "compaction.layers.prune.trigger",
            "trigger",
        ),
    ],
)
def test_a_name_is_spelled_for_its_place(text: str, name: str, spelled: str | None) -> None:
    assert spelled_at(parse_yaml(text), text.index("triger"), name) == spelled
