"""`ullage mcp`: tools for agents that have no hooks."""

import sys

import click

from ullage.store.files.places import current_places


@click.command()
def mcp() -> None:
    """Serve context_status, checkpoint_write and checkpoint_read over MCP, on standard input."""
    try:
        from ullage.agent.mcp import mcp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise click.ClickException(
            f"MCP is an optional part: `{sys.executable} -m pip install 'mcp>=2.3,<3'` adds it"
        ) from None
    mcp_server(current_places()).run("stdio")
