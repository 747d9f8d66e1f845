"""`ullage demo`: the whole round on a bundled session, in a scratch folder."""

import click


@click.command()
@click.option("--full", is_flag=True, help="Show all that each command prints.")
def demo(*, full: bool) -> None:
    """Try the whole round on a bundled session.

    It is a copy in a scratch folder, which is removed again.
    """
    from ullage.app.demo import run_demo
    from ullage.cli.output import safe, working

    run_next = working()(next)
    steps = run_demo()
    while (step := run_next(steps, None)) is not None:
        text = step.output if full else step.brief
        if text:
            click.echo(f"\n{click.style(f'$ {step.command}', bold=True)}\n{safe(text)}")
    more = "" if full else "; --full shows every line"
    click.echo(f"\nThat was a copy in a scratch folder, now removed{more}.")
    click.echo("On your own session: cd <your project> && ullage context status")
