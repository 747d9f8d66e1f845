"""The table of secrets has the form that a reader of it needs: what, how it begins, who says so."""

import re
from datetime import date

import pytest

from ullage.core.secrets.rules import RULES, Rule, read_rules


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.kind} {rule.heads[0]}")
def test_a_rule_is_whole_and_sourced(rule: Rule) -> None:
    assert rule.heads
    assert all(rule.heads)
    assert rule.source
    assert date.fromisoformat(rule.date)
    assert len(set(rule.heads)) == len(rule.heads)
    assert not rule.ends or all(head.endswith(rule.signs or ("",)) for head in rule.heads)
    for pattern in (rule.rest, rule.label or ""):
        assert "(?&" not in pattern
        re.compile(pattern)


def test_there_are_more_than_a_hundred_kinds() -> None:
    assert len({rule.kind for rule in RULES}) > 100


def test_a_rule_calls_a_shared_pattern_by_its_name() -> None:
    (rule,) = read_rules(
        b'{"shared": {"GAP": "[ =]{1,4}"}, "rules": [{"kind": "shop", "heads": ["SHOP_KEY"],'
        b' "label": "(?&GAP)", "rest": "[0-9]{8}", "source": "made up", "date": "2026-11-22"}]}'
    )
    assert rule.label == "[ =]{1,4}"
