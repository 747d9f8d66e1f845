"""Run Ullage as `ullage` or `python -m ullage`.

A hook runs at every tool call of an agent, so it does not go through the command line, whose
import alone takes longer than a hook may.
"""

import sys


def main() -> None:
    match sys.argv[1:]:
        case ["hook", agent] if not agent.startswith("-"):
            from ullage.agent.hook import run_hook

            run_hook(agent)
        case _:
            from ullage.cli.main import main as run_command

            run_command()


if __name__ == "__main__":
    main()
