"""The fields of a `SKILL.md`."""

import pytest

from ullage.core.assembly.skill_frontmatter import (
    SkillFile,
    find_first_line,
    read_lines,
    read_skill,
    split_frontmatter,
)
from ullage.core.assembly.skills import SkillInvocation, SkillMetadata

NEEDS = {
    "requires": {
        "bins": ["gh"],
        "anyBins": ["node", "bun"],
        "env": "A_KEY, B_KEY",
        "config": ["browser.enabled", {"path": "x"}],
    },
    "os": ["darwin", "linux"],
    "always": True,
    "primaryEnv": "A_KEY",
    "skillKey": "github",
}


def make_file(**fields: object) -> SkillFile:
    path = "/w/skills/git/SKILL.md"
    return SkillFile(path=path, root="/w/skills", scope="workspace", name="git", fields=fields)


@pytest.mark.parametrize(
    ("text", "block", "body"),
    [
        ("---\nname: a\n---\n# A\n", "name: a\n", "# A\n"),
        ("---\r\nname: a\r\n---\r\nA", "name: a\n", "A"),
        ("---\n---\nA", "", "A"),
        ("---\nname: a\n---", "name: a\n", ""),
        ("---\nname: a\n", "", "---\nname: a\n"),
        ("# A\n---\nname: a\n---\n", "", "# A\n---\nname: a\n---\n"),
        ("", "", ""),
    ],
)
def test_fields_stand_between_two_lines_at_the_top(text: str, block: str, body: str) -> None:
    assert split_frontmatter(text) == (block, body)


def test_where_there_is_no_yaml_what_stands_behind_a_key_counts() -> None:
    block = "name: [git\ndescription: Use when: asked\n  more: x\nquoted: 'a: b'\nempty:\n"
    assert read_lines(block) == {
        "name": "[git",
        "description": "Use when: asked",
        "quoted": "a: b",
    }


def test_the_first_line_of_a_text_is_without_the_marks_of_a_heading() -> None:
    assert find_first_line("\n\n##  Do it \nmore") == "Do it"
    assert find_first_line("") == ""


@pytest.mark.parametrize("key", ["openclaw", "clawdbot"])
@pytest.mark.parametrize("is_text", [False, True])
def test_what_a_skill_needs_is_read_from_yaml_and_from_json_in_it(key: str, is_text: bool) -> None:
    json5 = (
        "{ %s: { requires: { bins: ['gh'], anyBins: ['node', 'bun'], env: 'A_KEY, B_KEY',"
        " config: ['browser.enabled', {path: 'x'}], }, os: ['darwin', 'linux'], always: true,"
        " primaryEnv: 'A_KEY', skillKey: 'github', } }"
    )
    metadata = json5 % key if is_text else {key: NEEDS}
    skill = read_skill(make_file(description="Git.", metadata=metadata))
    assert skill is not None
    assert skill.primary_env == "A_KEY"
    assert skill.metadata == SkillMetadata(
        skill_key="github",
        is_always=True,
        platforms=("darwin", "linux"),
        binaries=("gh",),
        any_binaries=("node", "bun"),
        variables=("A_KEY", "B_KEY"),
        config_paths=("browser.enabled",),
    )


@pytest.mark.parametrize(
    "metadata", [None, 1, [], "{", "[]", {"openclaw": []}, {"openclaw": {"requires": 1, "os": {}}}]
)
def test_metadata_of_another_shape_asks_for_nothing(metadata: object) -> None:
    skill = read_skill(make_file(description="Git.", metadata=metadata))
    assert skill is not None
    assert skill.metadata == SkillMetadata()


def test_a_skill_has_the_name_of_its_folder_where_it_gives_none() -> None:
    skill = read_skill(make_file(description="Git.\nMore of  it."))
    assert skill is not None
    assert (skill.name, skill.description) == ("git", "Git. More of it.")
    assert make_file(description="half \ud800").text("description") == "half ?"
    assert skill.invocation == SkillInvocation()


@pytest.mark.parametrize("description", [None, "", "  ", ["a"], {"a": 1}, True])
def test_what_has_no_description_is_no_skill(description: object) -> None:
    assert read_skill(make_file(description=description)) is None


@pytest.mark.parametrize(
    ("value", "is_set"),
    [(True, True), ("yes", True), ("ON", True), (1, True), (False, False), ("no", False)],
)
def test_flags_are_read_as_words_too(value: object, is_set: bool) -> None:
    skill = read_skill(make_file(description="Git.", **{"disable-model-invocation": value}))
    assert skill is not None
    assert skill.invocation == SkillInvocation(is_model_invocable=not is_set)


def test_of_what_a_skill_needs_a_hundred_of_a_kind_count() -> None:
    names = ",".join(f"b{number}" for number in range(20_000))
    skill = read_skill(
        make_file(description="x", metadata={"openclaw": {"requires": {"anyBins": names}}})
    )
    assert skill is not None
    assert len(skill.metadata.any_binaries) == 100


def test_nothing_in_a_name_or_a_description_is_hidden_or_steers() -> None:
    skill = read_skill(make_file(name="x\x1b[31m\u202e", description="a\u2028# \x1b[2J\u200bb\x00"))
    assert skill is not None
    assert (skill.name, skill.description) == ("x [31m", "a # [2Jb")
    assert read_skill(make_file(description="\u202e\u200b")) is None
