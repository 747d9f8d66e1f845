"""What other programs start over standard input and output: the servers, and hooks."""

import sys

import click

from ullage.store.files.places import current_places


@click.command()
def lsp() -> None:
    """Run the language server for an editor, over standard input and output."""
    from ullage.lsp.server import serve

    raise click.exceptions.Exit(serve())


@click.command()
def agent() -> None:
    """Run the service for agent runtimes: JSON-RPC, one JSON object a line."""
    from ullage.agent.server import serve

    serve()


@click.command()
@click.argument("agent", metavar="claude-code|codex")
def hook(agent: str) -> None:
    """Answer one event of an agent, JSON on standard input; `ullage install` registers it.

    The exit code is always 0: a fault of ours never stops the agent.
    """
    from ullage.agent.hook import run_hook

    run_hook((agent,))


@click.command()
def mcp() -> None:
    """Serve tools over MCP, on standard input: context, checkpoints, memory."""
    try:
        from ullage.agent.mcp import mcp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise click.ClickException(
            f"MCP is an optional part: `{sys.executable} -m pip install 'mcp>=2.3,<3'` adds it"
        ) from None
    mcp_server(current_places()).run("stdio")
