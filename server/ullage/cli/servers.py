"""What other programs start over standard input and output: servers, hooks, the status line."""

import sys

import click

from ullage.store.files.places import current_places


@click.command()
def lsp() -> None:
    """Run the language server for an editor."""
    from ullage.lsp.server import serve

    raise click.exceptions.Exit(serve())


@click.command()
def agent() -> None:
    """Run the service for agent runtimes: JSON-RPC, line by line."""
    from ullage.agent.server import serve

    serve()


@click.command()
@click.argument("agent", metavar="claude-code|codex")
def hook(agent: str) -> None:
    """Answer one event of an agent, JSON on standard input.

    `ullage install` registers it. The exit code is always 0: a fault of ours never stops the agent.
    """
    from ullage.agent.hook import run_hook

    run_hook((agent,))


@click.command()
def mcp() -> None:
    """Serve tools over MCP: context, checkpoints, memory."""
    try:
        from ullage.agent.mcp import mcp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise click.ClickException(
            f"MCP is an optional part: `{sys.executable} -m pip install 'mcp>=2.3,<3'` adds it"
        ) from None
    mcp_server(current_places()).run("stdio")


@click.command()
@click.option(
    "--format",
    "template",
    metavar="TEXT",
    help="What the line says: fields in braces, parts between ` | `.",
)
def statusline(template: str | None) -> None:
    """Print one line for Claude Code's status line or a prompt.

    JSON of Claude Code on standard input names the session; without it, the newest of this folder.
    A part of the line whose fields are all empty is left out, and the last ones where the terminal
    is narrow. docs/statusline.md lists the fields.
    """
    from ullage.agent.status_line import encode_line, find_line
    from ullage.core.gauge.status_line import DEFAULT_FORMAT, FIELDS, find_unknown

    if template is not None and (unknown := find_unknown(template)) is not None:
        raise click.UsageError(f"--format has no field {unknown}: {', '.join(FIELDS)}")
    click.echo(encode_line(find_line(template or DEFAULT_FORMAT)), nl=False)
