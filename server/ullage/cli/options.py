"""Options that several commands share, and what they are part of: the configuration."""

import sys
from collections.abc import Callable, Coroutine
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import click

from ullage.app.config.load import load_config, refuse_read_only
from ullage.cli.output import over_working, working
from ullage.core.config.settings import Config
from ullage.core.transcript.agent_lines import MAX_WINDOW_TOKENS
from ullage.errors import Refused, UllageError
from ullage.store.files.places import Places, current_places

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ullage.app.sessions.load import Loaded
    from ullage.app.sessions.session import Session
    from ullage.app.summary.write import ModelUse
    from ullage.formats.agent_info import AgentInfo
    from ullage.summary.request import Progress, Report

MIN_WINDOW_TOKENS = 1000
LISTED_SESSIONS = 20
"""By `ullage sessions`, and to who presses Tab (chosen)."""
F = TypeVar("F", bound=Callable[..., None])
T = TypeVar("T")


def session_option(command: F) -> F:
    return click.option(
        "--session",
        metavar="ID|PATH",
        help="Path of a transcript or id of a session; else this folder's live or newest one.",
        shell_complete=_complete_session,
    )(command)


def _complete_session(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    """Give the shell the newest sessions of this folder, or files where none begins like that."""
    from click.shell_completion import CompletionItem

    from ullage.app.sessions.find import list_sessions
    from ullage.app.sessions.title import title_of
    from ullage.cli.output import safe

    del context, parameter
    places = current_places().for_reading(is_read_only=True)
    sessions = islice(list_sessions(places.cwd, places), LISTED_SESSIONS)
    items = [
        CompletionItem(session.header.session_id, help=safe(title_of(session)))
        for session in sessions
        if session.header.session_id.startswith(incomplete)
    ]
    return items or [CompletionItem(incomplete, type="file")]


def window_option(command: F) -> F:
    return click.option(
        "--window",
        type=click.IntRange(min=MIN_WINDOW_TOKENS, max=MAX_WINDOW_TOKENS),
        metavar="TOKENS",
        help="Size of the model's context window, also from ULLAGE_CONTEXT_WINDOW.",
    )(command)


def checkpoint_argument(name: str, *, metavar: str) -> Callable[[F], F]:
    return click.argument(
        name, required=False, metavar=metavar, shell_complete=_complete_checkpoint
    )


def _complete_checkpoint(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Give the shell the ids of the session that stands on the line, or of the newest one."""
    from ullage.app.checkpoint.find import known_ids

    del parameter
    session = context.params.get("session")
    try:
        ids = known_ids(*open_session(session if isinstance(session, str) else None))
    except UllageError:
        return []
    return [checkpoint_id for checkpoint_id in ids if checkpoint_id.startswith(incomplete)]


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def change_options(command: F) -> F:
    """Add the options of a change that is previewed and confirmed."""
    dry_run = "Show what would happen and write nothing."
    command = window_option(json_option(command))
    command = click.option("--yes", is_flag=True, help="Do not ask.")(command)
    return click.option("--dry-run", is_flag=True, help=dry_run)(command)


def refuse_unasked(*, as_json: bool, is_answered: bool) -> None:
    """Refuse JSON where a question would stand between a preview that nobody sees and its answer.

    Raises:
        UsageError: neither `--yes` nor `--dry-run` was given.
    """
    if as_json and not is_answered:
        options = {
            option for each in click.get_current_context().command.params for option in each.opts
        }
        wanted = " or ".join(name for name in ("--yes", "--dry-run") if name in options)
        raise click.UsageError(f"--json shows no preview: give {wanted} with it")


def name_errors(name: Callable[[], str]) -> None:
    """Let what refuses the command say of which session: another may live in the same folder."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.find_root().obj = name


def open_session(session: str | None, *, is_saved: bool = False) -> "tuple[Session, Places]":
    """Open the session that a user means; by its checkpoints too where those alone are wanted."""
    from ullage.app.sessions.named import find_saved_session, find_session
    from ullage.app.sessions.secrets import secrets_for
    from ullage.app.sessions.title import name_of

    places = current_places()
    # What is configured is not known here, so that nothing is kept of the look.
    find = find_saved_session if is_saved else find_session
    opened = find(session, places.for_reading(is_read_only=True))
    if opened.agent_info is not None:
        name_errors(lambda: name_of(opened, secrets_for(opened.header, places)))
    return opened, places


@working()
def load_session(session: str | None, window: int | None) -> "tuple[Loaded, Config, Places]":
    """Load a session by the configuration of the working folder."""
    from ullage.app.gauge.status_text import name_text
    from ullage.app.sessions.named import load_named

    places = current_places()
    config = current_config(window, places)
    loaded = load_named(session, config, places)
    name_errors(lambda: name_text(loaded))
    return loaded, config, places


def configured_model(config: Config, places: Places) -> "ModelUse":
    """Give the configured model; on a terminal it tells how far it is."""
    from ullage.app.summary.write import model_use

    return model_use(config.model, places, report=progress_report())


def progress_report() -> "Report | None":
    """Give what tells on a terminal how far a model is."""
    return _show if sys.stderr.isatty() else None


@working()
def run_to_end(coroutine: Coroutine[object, object, T]) -> T:
    """Run what may ask a model in an event loop of its own, and give its result.

    When `asyncio.run` takes its signal handler off, the standard library makes a text of the
    finished task, its result included (`signal.getsignal`): the task here has none.
    """
    import asyncio

    results: list[T] = []

    async def keep_result() -> None:
        results.append(await coroutine)

    asyncio.run(keep_result())
    return results[0]


def _show(progress: "Progress") -> None:
    click.echo(over_working(progress.text), err=True)


def is_person(places: Places) -> bool:
    """Tell whether a person can be asked: there is a terminal, and it is no agent's."""
    return sys.stdin is not None and sys.stdin.isatty() and _find_agent(places) is None


def refuse_others(places: Places) -> None:
    """Refuse whatever but a person would decide what is remembered.

    Raises:
        Refused: there is no terminal, or it is an agent's.
    """
    if not is_person(places):
        agent = _find_agent(places)
        why = "there is no terminal" if agent is None else f"this is a shell of {agent.name}"
        raise Refused(
            f"only a person decides what stands in memory, and {why}: run this in a terminal of"
            " your own, or decide in the editor"
        )


def _find_agent(places: Places) -> "AgentInfo | None":
    from ullage.formats.registry import agent_of_shell

    return agent_of_shell(places.env)


def refuse_writing(places: Places) -> None:
    """Refuse to write where the configuration of the working folder says so.

    Raises:
        WriteNotSupported: nothing may be written there.
    """
    refuse_read_only(current_config(None, places).policy)


def current_config(window: int | None, places: Places) -> Config:
    """Load the configuration of the working folder; report what does not count in it."""
    flags = {} if window is None else {"--window": ("contextWindow", window)}
    config = load_config(places, workspace=places.cwd, flags=flags)
    n_ignored = sum(not finding.is_used for finding in config.findings)
    if n_ignored:
        what = "a setting is" if n_ignored == 1 else f"{n_ignored} settings are"
        click.echo(f"ullage: {what} ignored; `ullage config check` says why", err=True)
    return config
