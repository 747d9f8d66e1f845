"""`ullage hook`: what agents run at their events; `__main__` goes to it without this module."""

import click

from ullage.agent.hook import run_hook


@click.command()
@click.argument("agent", metavar="claude-code|codex")
def hook(agent: str) -> None:
    """Answer one event of an agent, JSON on standard input; `ullage install` registers it.

    The exit code is always 0: a fault of ours never stops the agent.
    """
    run_hook((agent,))
