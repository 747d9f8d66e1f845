"""A user in a hostile repository, with keys, with its programs in their path, and watched."""

import os
import socket
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pi_files import conversation
from running import WAIT_S, Place
from siege.hostile_repository import KEY, make_repository

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "ullage")
"""As people start it: `python -m` looks for modules in the folder, whatever they are."""


class Siege:
    """What was written in the repository and around it, and who was asked, since the last look."""

    def __init__(self, place: Place, listener: socket.socket) -> None:
        self.place = place
        self.listener = listener
        self.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        make_repository(place.cwd, place.root / "outside", self.address)
        for folder in (".claude", ".codex", ".openclaw"):
            (place.home / folder).mkdir()
        folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
        self.live = place.home / ".pi" / "agent" / "sessions" / folder / "2026-02-03_live.jsonl"
        live = conversation(10, chars=2400, usage=7_000, cwd=str(place.cwd)).data
        place.write(str(self.live), live)
        bundle = place.run("context", "export", "bundle.json", "--session", self.live)
        assert bundle.returncode == 0, bundle.stderr
        self.before = place.files()

    def env(self, **changes: str) -> dict[str, str]:
        """Give the environment of a user with `.` in their path, keys, and a proxy that watches.

        They trust the folder: it may set all but where text is sent and what is run.
        """
        path = os.pathsep.join((".", "node_modules/.bin", os.environ["PATH"]))
        keys = dict.fromkeys(("OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY"), KEY)
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), self.address)
        programs = {"PAGER": "less", "EDITOR": "vi", "VISUAL": "vi", "BROWSER": "open"}
        changes = {"ULLAGE_TRUST_WORKSPACE": str(self.place.cwd), **changes}
        return self.place.env(PATH=path, **keys, **proxies, **programs, **changes)

    def run(self, command: str | Sequence[str], stdin: bytes = b"", **env: str) -> str:
        """Run a program in the repository, and give what it said."""
        done = subprocess.run(
            command,
            cwd=self.place.cwd,
            env=self.env(**env),
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=WAIT_S,
            check=False,
            shell=isinstance(command, str),
        )
        said = done.stdout.decode("utf-8", "replace")
        assert done.returncode in (0, 3, 4), said
        return said

    def damage(self, may_write: str = "state") -> list[str]:
        """Name what was written since the last time where it must not be, and what was asked."""
        before, self.before = self.before, self.place.files()
        written = {
            name.replace(os.sep, "/")
            for name in {*before, *self.before}
            if before.get(name, "none") != self.before.get(name, "none")
        }
        damage = sorted(name for name in written if not name.startswith(("state", may_write)))
        try:
            peer, _ = self.listener.accept()
        except BlockingIOError:
            return damage
        peer.close()
        return [*damage, "a connection"]


@contextmanager
def besieged(place: Place) -> Iterator[Siege]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0)
        yield Siege(place, listener)
