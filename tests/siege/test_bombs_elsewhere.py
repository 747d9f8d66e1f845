"""Bombs in what is no transcript: settings, checkpoints, bundles, hooks' input, the protocols."""

import json
import re
from pathlib import Path

import pytest

import hook_inputs
from pi_files import conversation
from running import Place

ALIASES = b"a: &a [x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (at + 1, at + 1, b", ".join([b"*%c" % at] * 9)) for at in range(97, 112)
)
YAML = {
    "aliases of aliases": ALIASES,
    "a tag that runs a program": b"pins: !!python/object/apply:os.system ['exit 1']\n",
    "lists of lists": b"pins: " + b"[" * 100_000 + b"]" * 100_000,
    "blocks of blocks": b"".join(b" " * depth + b"a:\n" for depth in range(2000)),
    "a number of many digits": b"compaction:\n  reserveTokens: " + b"9" * 5000 + b"\n",
    "a number beyond all floats": b"compaction:\n  reserveTokens: 1e999\n",
    "five megabytes": b"a: b\n" * 1_000_000,
    "blank lines": b"\n" * 3_500_000,
}
JSON = {
    "arrays of arrays": b"[" * 100_000 + b"]" * 100_000,
    "objects without an end": b'{"a":' * 100_000,
    "as deep as can be read": b'{"a":' * 900 + b"1" + b"}" * 900,
    "a number of many digits": b"9" * 5000,
    "as many digits as Python reads": b"9" * 4000,
    "a number beyond all floats": b"1e999",
    "blanks": b" " * 1_000_000 + b"1",
}


@pytest.fixture
def session(place: Place) -> Path:
    return place.write("s.jsonl", conversation(2).data)


@pytest.mark.parametrize("bomb", YAML)
def test_a_configuration_of_any_kind_lets_the_status_work(
    place: Place, session: Path, bomb: str
) -> None:
    place.write(".ullage.yaml", YAML[bomb])
    assert place.run("context", "status", "--session", session).returncode == 0
    assert place.run("config", "check").returncode in (0, 3)


@pytest.mark.parametrize("name", [".claude/settings.json", ".pi/agent/settings.json"])
@pytest.mark.parametrize("bomb", JSON)
def test_settings_of_an_agent_of_any_kind_let_the_status_work(
    place: Place, session: Path, bomb: str, name: str
) -> None:
    path = place.home / name
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"compaction":{"reserveTokens":' + JSON[bomb] + b"}}")
    assert place.run("context", "status", "--session", session).returncode == 0


@pytest.mark.parametrize("bomb", YAML)
def test_a_checkpoint_of_any_kind_is_refused_or_read(
    place: Place, session: Path, bomb: str
) -> None:
    assert place.run("checkpoint", "write", "--session", session).returncode == 0
    (path,) = place.state.rglob("cp_*.yaml")
    path.write_bytes(YAML[bomb])
    for command in (("list",), ("show",), ("restore", "--dry-run")):
        done = place.run("checkpoint", *command, "--session", session)
        assert done.returncode in (0, 3, 4), (command, done.stderr)


@pytest.mark.parametrize("bomb", JSON)
def test_a_bundle_of_any_kind_is_refused_or_read(place: Place, session: Path, bomb: str) -> None:
    place.run("context", "export", "out.json", "--session", session)
    data = (place.cwd / "out.json").read_bytes()
    matches = list(re.finditer(rb'(?<=": )(?:\d+|"[^"\\]*"|(?=[{\[]))', data))
    assert len(matches) > 9
    for match in matches[:9]:
        place.write("bomb.json", data[: match.start()] + JSON[bomb] + data[match.end() :])
        done = place.run("context", "import", "bomb.json", "--dry-run")
        assert done.returncode in (0, 3), done.stderr


@pytest.mark.parametrize("bomb", JSON)
def test_a_hook_lets_its_agent_go_on_whatever_it_is_handed(place: Place, bomb: str) -> None:
    told = hook_inputs.claude("UserPromptSubmit", prompt="hi", cwd=str(place.cwd))
    data = json.dumps(told).encode().replace(b'"hi"', JSON[bomb])
    done = place.run_process("hook", "claude-code", stdin=data)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_line_to_the_service_for_agents_is_answered(place: Place) -> None:
    requests = [
        b'{"jsonrpc":"2.0","id":%d,"method":"context/status","params":{"session":%s}}' % placed
        for placed in enumerate(JSON.values())
    ]
    done = place.run_process("agent", stdin=b"\n".join((*requests, *JSON.values(), b"")))
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert (done.returncode, done.stderr) == (0, "")
    assert len(answers) == 2 * len(JSON)
    assert all(answer["error"]["code"] != -32603 for answer in answers)


def test_the_language_server_outlives_each_message(place: Place) -> None:
    start = b'{"jsonrpc":"2.0","id":"start","method":"initialize","params":{"capabilities":{}}}'
    hovers = [
        b'{"jsonrpc":"2.0","id":%d,"method":"textDocument/hover","params":%s}' % placed
        for placed in enumerate(JSON.values())
    ]
    messages = (start, *hovers, *JSON.values())
    stdin = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in messages)
    done = place.run_process("lsp", stdin=stdin)
    # The last message is a number; what is asked may be given up when the input ends.
    assert done.stdout.endswith('"not a request of JSON-RPC 2.0: Expected `object`, got `int`"}}')
