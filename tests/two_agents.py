"""The real Claude Code and the real pi at work in one folder, until their input ends.

    python tests/two_agents.py HOME WORKSPACE CLAUDE_SESSION_ID SEED SECONDS

Each goes on with the session that lies where it keeps those of the workspace, against a model on
loopback, and is asked something at odd moments. Claude Code is left now and then, and taken up
again. What the model reports fills both windows within the seconds. On its output stands what
happens, a line of JSON each: `{"agent": "pi", "did": "turn"}`.
"""

import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

from agents_lab import ARE_INSTALLED, HOW_TO_INSTALL, PROGRAMS, Lab
from loopback_model import Answer, Json, LoopbackModel
from pi_process import PI_PACKAGES, Pi
from running import WAIT_S

PI_VERSION = "0.87.1"
WINDOW_TOKENS = 200_000
FIRST_TOKENS = 120_000
LAST_TOKENS = {"claude-sonnet-4-5": 164_000, "loop-1": 193_000}
"""Through all bands, and not to where each compacts by itself: at 167,000 and 196,000."""
SOON_S, LATE_S = (0.5, 4.0), (9.0, 25.0)
"""Between two turns: while something is asked, and long enough that a change can be made."""
LATE_SHARE = 0.4
LEAVES_SHARE = 0.3


class FillingModel(LoopbackModel):
    """Has a command run in each turn, and reports more tokens from turn to turn."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._began_s, self._seconds = time.monotonic(), seconds
        self._at_work: set[str] = set()

    def next_answer(self, body: Json) -> tuple[int, Answer]:
        number, _ = super().next_answer(body)
        if number == 0:
            return number, Answer("aside")
        share = min(1.0, (time.monotonic() - self._began_s) / self._seconds)
        agent = str(body["model"])
        n_tokens = round(FIRST_TOKENS + share * (LAST_TOKENS[agent] - FIRST_TOKENS))
        if agent in self._at_work:
            self._at_work.remove(agent)
            return number, Answer(f"Step {number} is done.", n_tokens=n_tokens)
        self._at_work.add(agent)
        command = f"seq -f 'parcel %g of step {number} has no owner' 1 300"
        return number, Answer("I look.", (command,), n_tokens=n_tokens)


class Work(threading.Thread):
    """Asks an agent something at odd moments, until it is told to end."""

    def __init__(self, name: str, seed: str) -> None:
        super().__init__(name=name)
        self.chance = random.Random(f"{seed} {name}")
        self.is_over = threading.Event()

    def rest(self) -> bool:
        """Wait for the next odd moment; False where there is none."""
        is_late = self.chance.random() < LATE_SHARE
        return not self.is_over.wait(self.chance.uniform(*(LATE_S if is_late else SOON_S)))

    def tell(self, did: str) -> None:
        sys.stdout.write(json.dumps({"agent": self.name, "did": did}) + "\n")
        sys.stdout.flush()


class ClaudeWork(Work):
    def __init__(self, lab: Lab, workspace: Path, session_id: str, seed: str) -> None:
        super().__init__("claude-code", seed)
        options = "-p --verbose --input-format stream-json --output-format stream-json"
        chosen = "--allowedTools Bash --model claude-sonnet-4-5 --resume"
        program = ["node", str(PROGRAMS["claude"])]
        self.command = [*program, *options.split(), *chosen.split(), session_id]
        self.lab, self.workspace = lab, workspace

    def run(self) -> None:
        while not self.is_over.is_set():
            with subprocess.Popen(
                self.command,
                env=self.lab.environment(),
                cwd=self.workspace,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            ) as claude:
                self.work_with(claude)
            self.tell("left")
            self.rest()

    def work_with(self, claude: subprocess.Popen[bytes]) -> None:
        assert claude.stdin is not None
        assert claude.stdout is not None
        while self.rest():
            said = {"role": "user", "content": "Go on with the next step."}
            claude.stdin.write(json.dumps({"type": "user", "message": said}).encode() + b"\n")
            claude.stdin.flush()
            ended = next((e for e in map(json.loads, claude.stdout) if e["type"] == "result"), None)
            assert ended is not None, "Claude Code ended"
            self.tell("turn")
            if self.chance.random() < LEAVES_SHARE:
                break
        claude.stdin.close()
        claude.wait(WAIT_S)


class PiWork(Work):
    def __init__(self, pi: Pi, seed: str) -> None:
        super().__init__("pi", seed)
        self.pi = pi

    def run(self) -> None:
        while self.rest():
            self.pi.ask("Go on with the next step.")
            self.tell("turn")


def end_all(failure: threading.ExceptHookArgs) -> None:
    """End this process with an agent that failed; the other ends with its input."""
    threading.__excepthook__(failure)
    os._exit(1)


def main(home: str, workspace: str, session_id: str, seed: str, seconds: str) -> None:
    if not (ARE_INSTALLED and PI_PACKAGES[PI_VERSION].exists()):
        sys.exit(f"{HOW_TO_INSTALL} and `npm --prefix tests/peer ci --ignore-scripts`")
    threading.excepthook = end_all
    folder = Path(workspace)
    with FillingModel(float(seconds)) as model:
        pi = Pi(
            Path(home).parent,
            model,
            version=PI_VERSION,
            command=None,
            window_tokens=WINDOW_TOKENS,
            is_continued=True,
        )
        pi.project.rmdir()
        pi.project = folder
        lab = Lab("claude", Path(home), model)
        lab.configure()
        with pi:
            works = ClaudeWork(lab, folder, session_id, seed), PiWork(pi, seed)
            for work in works:
                work.start()
            sys.stdin.read()
            for work in works:
                work.is_over.set()
            for work in works:
                work.join(WAIT_S)


if __name__ == "__main__":
    main(*sys.argv[1:])
