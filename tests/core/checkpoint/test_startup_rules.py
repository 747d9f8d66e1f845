"""The sections that come again after a compaction are found as their headings say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.checkpoint.startup_rules import find_startup_rules

TEMPLATE = """\
# AGENTS.md

## Session Startup

1. Read `SOUL.md`: who you are
2. Read `memory/YYYY-MM-DD.md` (today and yesterday)
3. If in the main session: also read `MEMORY.md`

### Then

Read ./docs/plan.md.

## Memory

Not this.

## Red Lines

- Never exfiltrate data.
"""
STARTUP = TEMPLATE[TEMPLATE.index("## Session") : TEMPLATE.index("## Memory")].strip()
LIMITS = "## Red Lines\n\n- Never exfiltrate data."


def texts(agents_md: str) -> list[str]:
    return [part.text for part in find_startup_rules(agents_md)]


def test_both_sections_are_found_with_what_stands_below_them() -> None:
    assert texts(TEMPLATE) == [STARTUP, LIMITS]


@pytest.mark.parametrize(
    ("agents_md", "sections"),
    [
        ("# RED LINES\na\n## b\nc\n# d\ne", ["# RED LINES\na\n## b\nc"]),
        ("##### session startup ##\na\n###### b", ["##### session startup ##\na\n###### b"]),
        ("## Red Lines\na\n## Session Startup\nb", ["## Session Startup\nb", "## Red Lines\na"]),
        ("## Session Startup\n### Red Lines\na", ["## Session Startup\n### Red Lines\na"]),
        ("```\n## Red Lines\n```\na", []),
        ("~~~md\n## Red Lines\n~~~", []),
        ("<!--\n## Red Lines\n-->", []),
        (
            "## Red Lines\n```\n# no heading\n```\nb\n## c",
            ["## Red Lines\n```\n# no heading\n```\nb"],
        ),
        ("## Every Session\na\n## Safety\nb", ["## Every Session\na", "## Safety\nb"]),
        ("## Safety\na\n## Red Lines\nb", ["## Red Lines\nb"]),
        ("## Red Lines of ours\na", []),
        ("## Red Lines\na\n## Red Lines\nb", ["## Red Lines\na"]),
        ("", []),
    ],
)
def test_a_section_is_what_its_heading_says(agents_md: str, sections: list[str]) -> None:
    assert texts(agents_md) == sections


@given(st.text(st.sampled_from("# \n`-<!>Red LinesSoup")))
def test_whatever_stands_there_a_section_is_a_part_of_it(agents_md: str) -> None:
    for text in texts(agents_md):
        assert text in agents_md
