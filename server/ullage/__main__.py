"""Run Ullage as `ullage` or `python -m ullage`.

A hook runs at every tool call of an agent, so it does not go through the command line, whose
import alone takes longer than a hook may, and which ends with 2 for wrong arguments: to an agent,
that is a hook which stops the user's work.
"""

import gc
import os
import sys

YOUNG_OBJECTS = 100_000
"""Python looks for garbage after 700 new objects. Imports make 40,000 and never free them, and a
look at 10,000 files makes 30,000.
"""


def main() -> None:
    gc.set_threshold(YOUNG_OBJECTS)
    match sys.argv[1:]:
        case ["hook", *arguments] if arguments != ["--help"]:
            from ullage.agent.hook import run_hook

            run_hook(arguments)
        case ["statusline", *arguments] if not {"-h", "--help"} & {*arguments}:
            from ullage.agent.status_line import print_quickly

            print_quickly(arguments)
            _run_and_exit()
        case ["context", "status", *_]:
            _run_and_exit()
        case _:
            _run_command()


def _run_and_exit() -> None:
    """Run a command that leaves nothing to do, and end: Python takes itself down for 10 ms."""
    try:
        _run_command()
    except SystemExit as leaving:
        sys.stdout.flush()
        os._exit(leaving.code if isinstance(leaving.code, int) else 0)


def _run_command() -> None:
    from ullage.cli.main import main as run_command

    try:
        run_command()
    finally:
        # Python looks through all that is alive twice when it ends.
        gc.freeze()


if __name__ == "__main__":
    main()
