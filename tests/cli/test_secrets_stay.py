"""Every kind of secret, planted everywhere in a session: no command lets one out.

What may hold them is the transcript itself, and what prints it as it is: `context show`, and
`messages` in the JSON of `compact`.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from pi_files import PiFile
from running import Place, idle
from secret_samples import LETTERS, SAMPLES

KNOWN = "canary-of-the-environment"
FROM_FILE = "canary of an env file"
HALVES = tuple((LETTERS[:54])[at : at + 14] for at in range(27))
"""Parts of most of them, as a cut would leave them."""
CANARIES = (
    *HALVES,
    *(sample.secret for sample in SAMPLES.values()),
    KNOWN,
    FROM_FILE,
    "canary%20of%20an",
)
COMMANDS = (
    ("context", "status", "--json"),
    ("context", "inspect", "--top", "500"),
    ("context", "inspect", "--top", "500", "--json"),
    ("checkpoint", "write"),
    ("prune", "--dry-run"),
    ("prune", "--dry-run", "--json"),
    ("pin", "--list"),
    ("pin", "--list", "--json"),
    ("config", "show"),
    ("context", "export", "out.json"),
    ("compact", "--dry-run", "--window", "8000"),
    ("compact", "--yes", "--window", "8000", "--focus", f"keep {KNOWN}"),
    ("context", "history"),
    ("context", "history", "--json"),
    ("doctor",),
    ("doctor", "--json"),
    ("undo",),
    ("sessions", "--json"),
    ("context", "status", "--session", f"{SAMPLES['github'].secret}.jsonl"),
)


def planted(cwd: Path) -> bytes:
    pi = PiFile(cwd=str(cwd))
    kept = pi.user("hello")
    pi.compaction(f"An agent's own summary has {SAMPLES['gitlab'].text} in it.", kept)
    long_token = f"eyJ{LETTERS[:300]}.eyJ{LETTERS[:500]}.{LETTERS[:43]}"
    pi.user(f"Never send {long_token} to the host. Always remember: {long_token}")
    pi.assistant(f"We decided to keep {long_token}", model="gpt-4-turbo", usage=None)
    places = [sample.text for sample in SAMPLES.values()] + [KNOWN, FROM_FILE]
    for number, text in enumerate(places):
        pi.user(f"Never forget rule {number}: always deploy with {text} and nothing else.")
        calls = [
            (f"a{number}", "read", {"path": f"/srv/{text}/file.py"}),
            (f"b{number}", "bash", {"command": f"cd x\n{text}\nmake deploy"}),
        ]
        pi.assistant(f"We decided to use {text}.", calls=calls, model="gpt-4-turbo", usage=None)
        pi.result(f"a{number}", f"{'x' * 200}{chr(10)}{text}", name="read")
        pi.result(f"b{number}", f"Error: {text} was refused by the host", is_error=True)
    # Cuts of many lengths fall into this one.
    token = SAMPLES["docker"].text
    for n_words in range(0, 60, 2):
        pi.user(f"Never {'deploy ' * n_words}{token} and always remember rule {n_words}.")
        pi.assistant(f"We decided to {'keep ' * n_words}{token}.", model="gpt-4-turbo", usage=None)
    # A topic has 100 characters: 17 of the token's own, fewer than any token has.
    pi.user(f"{'please ' * 10}use {token} for it, it is urgent.")
    pi.result("z9", "a result that the doctor finds")
    pi.assistant(f"All is done, {FROM_FILE.replace(' ', '%20')} included.", model="gpt-4-turbo")
    return pi.data


def outputs(place: Place, session: Path) -> Iterator[tuple[str, str]]:
    for command in COMMANDS:
        chosen = (
            ()
            if "--session" in command or command[0] in ("sessions", "config")
            else ("--session", session)
        )
        idle(session)
        done = place.run(*command, *chosen, SHOP_TOKEN=KNOWN)
        assert "fault of Ullage" not in done.stderr
        has_findings = "--session" in command or command[0] == "doctor"
        assert done.returncode == (3 if has_findings else 0), done.stderr
        yield " ".join(command), done.stdout + done.stderr


def test_no_command_lets_a_secret_out(place: Place) -> None:
    session = place.write("s.jsonl", planted(place.cwd))
    (place.cwd / ".env").write_text(f'ADMIN_PASSWORD="{FROM_FILE}"\n')
    for command, output in outputs(place, session):
        # An answer in JSON has escapes of its own.
        found = (
            json.dumps(json.loads(output), ensure_ascii=False) if "--json" in command else output
        )
        leaks = [canary for canary in CANARIES if canary in found or canary in output]
        assert (command, leaks) == (command, [])
    files = [path for path in place.state.rglob("*") if path.is_file()]
    assert len(files) >= 3
    for path in (*files, place.cwd / "out.json"):
        text = path.read_bytes().decode("utf-8", "replace")
        # YAML and JSON break and escape what they hold.
        flat = " ".join(text.split()).replace("\\n", "\n").replace('\\"', '"')
        leaks = [canary for canary in CANARIES if canary in text or canary in flat]
        assert (path.name, leaks) == (path.name, [])
    exported = (place.cwd / "out.json").read_text()
    assert len({part[:20] for part in exported.split("[REDACTED:")[1:]}) >= 24
