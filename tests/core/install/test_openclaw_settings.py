"""Our plug-in in OpenClaw's configuration."""

import pytest

from core.text.test_json5 import plain
from ullage.core.install.openclaw_settings import (
    add_plugin,
    find_off_switch,
    find_other_provider,
    note_before_plugin,
    remove_plugin,
)
from ullage.core.text.json5 import parse_json5

FOLDER = "/home/u/.local/state/ullage/agents/openclaw"
COMMENTED = """// mine
{
  agents: {
    defaults: { compaction: { mode: 'safeguard', }, }, // keep
  },
  plugins: {
    allow: ["matrix"],
    load: { paths: ['~/plugins/a'] },
    entries: {
      matrix: { enabled: true }, /* on */
    },
  },
}
"""
TEXTS = (
    "", "{}", "{ }\n", "{\n}\n", COMMENTED, COMMENTED.replace("\n", "\r\n"), "{plugins: {}}",
    "{plugins: {load: {paths: [],},},}", '{"plugins": {"entries": {}}, "agents": {"list": []}}',
    "{agents: {defaults: {compaction: {provider: 'other'}}}} // end", "\ufeff{a: 1,}",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_the_plug_in_is_put_in_once_and_taken_out_to_the_byte(text: str) -> None:
    before = note_before_plugin(text, FOLDER, None)
    new = add_plugin(text, FOLDER, None)
    assert add_plugin(new, FOLDER, before) == new
    value = plain(parse_json5(new))
    assert FOLDER in value["plugins"]["load"]["paths"]
    assert value["plugins"]["entries"]["ullage"]["enabled"] is True
    assert note_before_plugin(new, FOLDER, before) == before
    assert remove_plugin(new, FOLDER, before) == text


def test_comments_and_manner_stay() -> None:
    new = add_plugin(COMMENTED, FOLDER, None)
    added = [line for line in new.split("\n") if line not in COMMENTED.split("\n")]
    assert "".join(added).replace(" ", "") == (
        'defaults:{compaction:{mode:\'safeguard\',"provider":"ullage",},},//keep'
        'allow:["matrix","ullage"],load:{paths:[\'~/plugins/a\',"' + FOLDER + '"]},'
        '"ullage":{"enabled":true},'
    )
    assert new.startswith("// mine\n")
    assert "/* on */" in new


def test_another_provider_stays_and_is_told_of() -> None:
    text = "{agents: {defaults: {compaction: {provider: 'other'}}}}"
    assert find_other_provider(text) == "other"
    new = add_plugin(text, FOLDER, None)
    assert find_other_provider(new) == "other"
    assert find_other_provider(add_plugin("{}", FOLDER, None)) is None


def test_an_allowlist_is_not_made_where_there_is_none() -> None:
    for text in ("{}", "{plugins: {allow: []}}"):
        assert plain(parse_json5(add_plugin(text, FOLDER, None)))["plugins"].get("allow") in (
            None,
            [],
        )


def test_a_plug_in_that_was_moved_or_switched_off_is_put_right() -> None:
    text = add_plugin("{}", FOLDER, None)
    moved = text.replace("/home/u", "/home/other").replace("true,", "false,")
    assert add_plugin(moved, FOLDER, None) == text


def test_what_keeps_it_off_is_named() -> None:
    assert find_off_switch("{plugins: {enabled: false}}") == "plugins.enabled"
    assert find_off_switch("{plugins: {deny: ['ullage']}}") == "plugins.deny"
    assert find_off_switch("{plugins: {deny: ['matrix']}}") is None
    assert find_off_switch("") is None
