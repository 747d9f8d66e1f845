"""`ullage demo`: the whole round on a bundled session, in a scratch folder."""

import click


@click.command()
def demo() -> None:
    """Try everything on a bundled session, in a scratch folder that is removed again."""
    from ullage.app.demo import run_demo
    from ullage.cli.output import safe

    for part in run_demo():
        heading = click.style(f"$ {part.command}", bold=True)
        click.echo(f"\n{heading}\n{safe(part.output)}")
    click.echo("\nThat was a copy in a scratch folder, now removed. On your own session:")
    click.echo("  cd <your project> && ullage context status")
