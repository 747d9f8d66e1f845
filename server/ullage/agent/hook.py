"""The edge of a hook: one event on standard input, what the agent accepts on standard output.

Whatever happens the agent goes on with its work: the exit code is 0, nothing is printed that it
would not take, and the process ends within its time limit. Nothing heavy is imported before the
event is known.
"""

import os
import sys
from threading import Timer
from typing import NoReturn

# msgspec looks for `typing_extensions` and does without: from Python 3.11 on `typing` has all
# that it takes from there. It is 12 of the 75 ms that a tool call costs.
sys.modules.setdefault("typing_extensions", None)  # pyright: ignore[reportArgumentType] None is how an import is refused

TIME_LIMIT_S = 2.0
"""The user waits for the agent, which waits for us (chosen)."""
COMPACTION_TIME_LIMIT_S = 10.0
"""Before a compaction, which takes a model a minute, a large session may be read (chosen)."""
MAX_INPUT_BYTES = 64 * 1024 * 1024
"""A tool's answer stands in the input; a larger one is read to its end and passed over (chosen)."""
_BLOCK_BYTES = 1024 * 1024


def run_hook(agent: str) -> NoReturn:
    """Answer one event of an agent; exit code 0 in any case."""
    limit = _end_after(TIME_LIMIT_S)
    output = b""
    try:
        output = _answer_to_input(agent, limit)
    except KeyboardInterrupt:
        # The user stops the agent, and the terminal tells all of its children.
        pass
    except Exception as error:
        _note(error)
    limit.cancel()
    _end(output)


def _answer_to_input(agent: str, limit: Timer) -> bytes:
    from ullage.agent.hook_event import CompactionAhead, parse_event

    if agent != "claude-code" and agent != "codex":  # noqa: PLR1714 narrows the type
        _print_note("this agent has no hook of ours: name claude-code or codex")
        return b""
    if sys.stdin.isatty():
        _print_note("a hook is run by its agent; `ullage install` registers it")
        return b""
    event = parse_event(_input(), agent)
    if event is None:
        return b""
    from ullage.agent.hook_answer import answer

    if not isinstance(event, CompactionAhead):
        return answer(event)
    limit.cancel()
    limit = _end_after(COMPACTION_TIME_LIMIT_S)
    output = answer(event)
    limit.cancel()
    return output


def _input() -> bytes:
    """Read standard input to its end, or the writer would fail; too much of it counts as none."""
    data = sys.stdin.buffer.read(MAX_INPUT_BYTES)
    if len(data) < MAX_INPUT_BYTES:
        return data
    while sys.stdin.buffer.read(_BLOCK_BYTES):
        pass
    return b""


def _end_after(seconds: float) -> Timer:
    timer = Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
    return timer


def _note(error: Exception) -> None:
    """Say in one line why nothing was done; what other than our errors say may hold anything."""
    from ullage.core.secrets import mask
    from ullage.errors import UllageError

    if isinstance(error, UllageError):
        _print_note(mask(str(error)))
    else:
        _print_note(f"a fault of Ullage ({type(error).__name__}) in a hook: please report it")


def _print_note(text: str) -> None:
    line = f"ullage: {' '.join(text.split())}\n"
    _write(2, line.encode("utf-8", "replace"))


def _end(output: bytes) -> NoReturn:
    """Print and leave at once: taking the interpreter down would cost more than the hook."""
    _write(1, output)
    os._exit(0)


def _write(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        # The agent does not listen any more.
        return
