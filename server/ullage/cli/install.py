"""`ullage install` and `ullage uninstall`: Ullage in a coding agent, shown before it is done."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import click

from ullage.cli.options import current_config, json_option, refuse_unasked
from ullage.cli.output import answer, print_json, safe
from ullage.store.files.places import Places, current_places

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ullage.app.install.plan import InstallPlan
    from ullage.app.install.schedule import SchedulePlan
    from ullage.app.install.text import PlanReport

_COLORS = {"+": "green", "-": "red", "@": "cyan"}
_SCHEDULE = "schedule"


class _Steps(NamedTuple):
    """A plan as it is shown, asked for, made and reported."""

    is_needed: bool
    lines: Iterable[str]
    question: str
    make: Callable[[], None]
    done_text: str
    report: "PlanReport"
    """Of what is there once it is made."""


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
    """Let an AGENT use Ullage by itself.

    Checkpoints before it compacts, and what it needs after: adds hooks to the settings of Claude
    Code or Codex, a status line to those of Claude Code, an extension to pi, a plug-in to OpenClaw.
    Each changed line is shown first; nothing else in those files changes, and `ullage uninstall`
    takes it back. Without AGENT: where Ullage is installed.

    `schedule` in the place of an agent: this folder's memory is looked after by the clock.
    """
    from ullage.app.install.plan import find_install_state, plan_install
    from ullage.app.install.schedule import find_schedule_state, plan_schedule
    from ullage.app.install.text import install_states_text, report_install_states

    places = current_places()
    if agent is None:
        standings = tuple(find_install_state(name, places) for name in _agents())
        report = report_install_states(standings, find_schedule_state(places))
        answer(install_states_text(report), report, as_json)
        return
    refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    if agent == _SCHEDULE:
        plan = plan_schedule(current_config(None, places), places)
        steps = _schedule_steps(plan, places, is_done=not dry_run)
    else:
        steps = _agent_steps(plan_install(agent, places), places, is_done=not dry_run)
    _carry_out(steps, dry_run=dry_run, yes=yes, as_json=as_json)


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
    from ullage.app.install.schedule import plan_no_schedule

    places = current_places()
    refuse_unasked(as_json=as_json, is_answered=yes or dry_run)
    if agent == _SCHEDULE:
        steps = _schedule_steps(plan_no_schedule(places), places, is_done=not dry_run)
    else:
        steps = _agent_steps(plan_uninstall(agent, places), places, is_done=not dry_run)
    _carry_out(steps, dry_run=dry_run, yes=yes, as_json=as_json)


def _carry_out(steps: _Steps, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Show a plan, ask, make it, report it."""
    if not as_json:
        for line in steps.lines:
            click.echo(click.style(safe(line), fg=_COLORS.get(line[:1])))
    is_made = steps.is_needed and not dry_run
    if is_made and not yes and not click.confirm(steps.question, err=True):
        click.echo("Nothing was changed.", err=True)
        return
    if is_made:
        steps.make()
    if as_json:
        print_json(steps.report)
    elif is_made:
        click.echo(steps.done_text)


def _agent_steps(plan: "InstallPlan", places: Places, *, is_done: bool) -> _Steps:
    from ullage.app.install.plan import make
    from ullage.app.install.text import done_text, plan_lines, question, report_plan

    return _Steps(
        is_needed=plan.is_needed,
        lines=plan_lines(plan, places),
        question=question(plan),
        make=lambda: make(plan),
        done_text=done_text(plan),
        report=report_plan(plan, places, is_done=is_done),
    )


def _schedule_steps(plan: "SchedulePlan", places: Places, *, is_done: bool) -> _Steps:
    from ullage.app.install import schedule

    return _Steps(
        is_needed=plan.is_needed,
        lines=schedule.schedule_lines(plan, places),
        question=schedule.schedule_question(plan),
        make=lambda: schedule.make_schedule(plan, places),
        done_text=schedule.schedule_done_text(plan),
        report=schedule.report_schedule(plan, places, is_done=is_done),
    )


def _choice() -> "click.Choice[str]":
    return click.Choice([*_agents(), _SCHEDULE])


def _agents() -> tuple[str, ...]:
    from ullage.app.install.agents import TARGETS

    return tuple(target.name for target in TARGETS)
