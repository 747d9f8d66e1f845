"""An expression that is compiled late is used as any other."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import ullage
from ullage.core.text.lazy_pattern import lazy_pattern

PACKAGE = Path(ullage.__file__).parent


def test_it_finds_what_a_compiled_one_finds() -> None:
    pattern, compiled = lazy_pattern(r"(\w)b", re.IGNORECASE), re.compile(r"(\w)b", re.IGNORECASE)
    text = "ab AB cd"
    for _ in range(2):
        assert pattern.findall(text) == compiled.findall(text) == ["a", "A"]
        assert pattern.sub(r"<\1>", text) == "<a> <A> cd"
        assert [match.span() for match in pattern.finditer(text)] == [(0, 2), (3, 5)]


def test_it_is_compiled_at_its_first_use_and_not_before() -> None:
    pattern = lazy_pattern("(")
    with pytest.raises(re.error, match="unterminated"):
        pattern.match("")


def test_all_of_the_package_compile() -> None:
    kind = type(lazy_pattern(""))
    n_compiled = 0
    for path in PACKAGE.rglob("*.py"):
        if "= lazy_pattern(" not in path.read_text("utf-8"):
            continue
        module = import_module(
            ".".join(("ullage", *path.relative_to(PACKAGE).with_suffix("").parts))
        )
        patterns = [value for value in vars(module).values() if type(value) is kind]
        assert all(pattern.groups >= 0 for pattern in patterns)
        n_compiled += len(patterns)
    assert n_compiled > 90
