"""`ullage agent`: the service for agent runtimes over standard input and output."""

import click


@click.command()
def agent() -> None:
    """Run the service for agent runtimes: JSON-RPC, one JSON object a line."""
    from ullage.agent.server import serve

    serve()
