"""The edge of a hook: one event on standard input, what the agent accepts on standard output.

Whatever happens, the agent continues its work: the exit code is 0, nothing is printed that it
would not take, and the process ends within its time limit. Nothing heavy is imported before the
event is known.
"""

import os
import sys
from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False  # `typing` takes as long as a hook of a tool call
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO, NoReturn, TextIO

    from ullage.agent.hook_agents import HookAgent

INPUT_TIME_LIMIT_S = 2.0
"""Who runs a hook has the event at hand (chosen)."""
TIME_LIMIT_S = 5.0
"""The user waits for the agent, which waits for us; half of what `core/install/hook_settings.py`
allows, so that we say ourselves that it was too long (chosen)."""
COMPACTION_TIME_LIMIT_S = 10.0
"""Before a compaction, which takes a model a minute, a large session may be read (chosen)."""
MAX_INPUT_BYTES = 64 * 1024 * 1024
"""A tool's answer stands in the input; a larger one is read to its end and passed over (chosen)."""
_BLOCK_BYTES = 1024 * 1024


def run_hook(arguments: "Sequence[str]") -> "NoReturn":
    """Answer one event of an agent; exit code 0 in any case, whatever the arguments are."""
    output = b""
    try:
        from ullage.agent.hook_agents import HOOK_AGENTS, hook_agent

        agent = hook_agent(arguments[0]) if len(arguments) == 1 else None
        if agent is None:
            names = " or ".join(agent.name for agent in HOOK_AGENTS)
            _print_note(f"a hook takes one argument, its agent: {names}")
        else:
            output = _answer_to_input(agent)
    except KeyboardInterrupt:
        # The user stops the agent, and the terminal tells all of its children.
        pass
    except Exception as error:
        _note(error)
    end(output)


def _answer_to_input(agent: "HookAgent") -> bytes:
    # Its type does not say so, but it is None where the standard input is closed.
    stream: TextIO | None = sys.stdin
    if stream is None or stream.isatty():
        _print_note("a hook is run by its agent, with an event; `ullage install` registers it")
        return b""
    stop_limit = _end_after(INPUT_TIME_LIMIT_S)
    data = _read_whole(stream.buffer)
    stop_limit()
    stop_limit = _end_after(TIME_LIMIT_S)
    from ullage.agent.quick_answer import answer_quickly

    output = answer_quickly(data, agent)
    if output is None:
        load_packages()
        from ullage.agent.hook_event import CompactionDue, parse_event

        event = parse_event(data, agent)
        if isinstance(event, CompactionDue):
            stop_limit()
            stop_limit = _end_after(COMPACTION_TIME_LIMIT_S)
        output = b""
        if event is not None:
            from ullage.agent.hook_answer import answer

            output = answer(event)
    stop_limit()
    return output


def load_packages() -> None:
    """Let the long way find what it imports, where Python was started without, and import msgspec.

    msgspec looks for `typing_extensions` and does without: from Python 3.11 on `typing` has all
    that it takes from there. It is 12 ms.
    """
    if sys.flags.no_site:
        import site

        site.main()
    if "typing_extensions" in sys.modules:
        return
    from importlib import import_module

    sys.modules["typing_extensions"] = None  # pyright: ignore[reportArgumentType] None is how an import is refused
    import_module("msgspec")
    del sys.modules["typing_extensions"]


def _read_whole(stream: "BinaryIO") -> bytes:
    """Read the input to its end, or the writer would fail; too much of it counts as none."""
    data = stream.read(MAX_INPUT_BYTES)
    if len(data) < MAX_INPUT_BYTES:
        return data
    while stream.read(_BLOCK_BYTES):
        pass
    return b""


def _end_after(seconds: float) -> "Callable[[], None]":
    """End this process in some seconds, unless what is given is called before.

    What `threading.Timer` does, for a tenth of its time.
    """
    running = allocate_lock()
    running.acquire()

    def wait() -> None:
        if not running.acquire(timeout=seconds):
            _give_up(seconds)

    start_new_thread(wait, ())
    return running.release


def _give_up(seconds: float) -> "NoReturn":
    _print_note(f"a hook took more than {seconds:g} s and was ended; what it was to do is not done")
    os._exit(0)


def _note(error: Exception) -> None:
    """Say in one line why nothing was done; the text of other errors may hold anything."""
    from ullage.core.secrets.scan import mask
    from ullage.errors import UllageError

    if isinstance(error, UllageError):
        _print_note(mask(str(error)))
    else:
        _print_note(f"a fault of Ullage ({type(error).__name__}) in a hook: please report it")


def _print_note(text: str) -> None:
    line = f"ullage: {' '.join(text.split())}\n"
    _write(sys.stderr, line.encode("utf-8", "replace"))


def end(output: bytes) -> "NoReturn":
    """Print and leave at once: taking the interpreter down would cost more than all before."""
    _write(sys.stdout, output)
    os._exit(0)


def _write(stream: "TextIO | None", data: bytes) -> None:
    if stream is None:
        # It was closed at the start: its number may be that of another file by now.
        return
    try:
        descriptor = stream.fileno()
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        # The agent does not listen any more.
        return
