"""`ullage lsp`: the language server over standard input and output."""

import click


@click.command()
def lsp() -> None:
    """Run the language server for an editor, over standard input and output."""
    from ullage.lsp.server import serve

    raise click.exceptions.Exit(serve())
