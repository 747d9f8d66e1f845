"""`ullage install` and `ullage uninstall`: Ullage in a coding agent, shown before it is done."""

from typing import TYPE_CHECKING

import click

from ullage.cli.options import json_option, refuse_unasked
from ullage.cli.output import answer, print_json, safe
from ullage.store.files.places import Places, current_places

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ullage.app.install.plan import InstallPlan

_COLORS = {"+": "green", "-": "red", "@": "cyan"}


# click makes it generic only after 8.2, which is the oldest that will do.
class AgentName(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """A program that Ullage can be installed in; no other command pays for the list of them."""

    name = "agent"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        return _choice().convert(value, param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return _choice().get_metavar(param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        return _choice().shell_complete(ctx, param, incomplete)


@click.command()
@click.argument("agent", type=AgentName(), required=False)
@click.option("--dry-run", is_flag=True, help="Show what would change and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def install(agent: str | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Let an AGENT use Ullage by itself: checkpoints before it compacts, and what it needs after.

    Adds hooks to the settings of Claude Code or Codex, an extension to pi, a plug-in to OpenClaw.
    Each changed line is shown first; nothing else in those files changes, and `ullage uninstall`
    takes it back. Without AGENT: where Ullage is installed.
    """
    from ullage.app.install.plan import find_install_state, plan_install
    from ullage.app.install.text import install_states_text, report_install_states

    places = current_places()
    if agent is None:
        standings = tuple(find_install_state(name, places) for name in _choice().choices)
        answer(install_states_text(standings), report_install_states(standings), as_json)
        return
    refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    _carry_out(plan_install(agent, places), places, dry_run=dry_run, yes=yes, as_json=as_json)


@click.command()
@click.argument("agent", type=AgentName())
@click.option("--dry-run", is_flag=True, help="Show what would change and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def uninstall(agent: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take Ullage out of an AGENT again.

    Only what `ullage install` put there goes. What you changed since in the same files stays as
    it is, to the byte; so do sessions, checkpoints and memory.
    """
    from ullage.app.install.plan import plan_uninstall

    places = current_places()
    refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    _carry_out(plan_uninstall(agent, places), places, dry_run=dry_run, yes=yes, as_json=as_json)


def _carry_out(
    plan: "InstallPlan", places: Places, *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Show a plan, ask, make it, report it."""
    from ullage.app.install.plan import make
    from ullage.app.install.text import done_text, plan_lines, question, report_plan

    if not as_json:
        for line in plan_lines(plan, places):
            click.echo(click.style(safe(line), fg=_COLORS.get(line[:1])))
    is_made = plan.is_needed and not dry_run
    if is_made and not yes and not click.confirm(question(plan), err=True):
        click.echo("Nothing was changed.", err=True)
        return
    if is_made:
        make(plan)
    if as_json:
        print_json(report_plan(plan, places, is_done=is_made))
    elif is_made:
        click.echo(done_text(plan))


def _choice() -> "click.Choice[str]":
    from ullage.app.install.agents import TARGETS

    return click.Choice([target.name for target in TARGETS])
