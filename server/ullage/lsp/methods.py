"""The requests and commands of our own: what each takes and answers, and how it is answered."""

import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar, cast, get_type_hints

import attrs
import msgspec
from pygls.exceptions import JsonRpcInvalidParams

from ullage.app.gauge.status_text import name_text
from ullage.errors import UllageError
from ullage.lsp.error_edge import answer_errors
from ullage.lsp.language_protocol import client_token
from ullage.lsp.messages import tell
from ullage.lsp.protocol import Outcome
from ullage.lsp.state import UllageServer

A = TypeVar("A", bound=attrs.AttrsInstance)
R = TypeVar("R", bound=attrs.AttrsInstance)
Handler: TypeAlias = Callable[..., Awaitable[object]]
Run: TypeAlias = Callable[[UllageServer, A], Awaitable[R]]
Name: TypeAlias = Callable[[UllageServer, A], Awaitable[str | None]]
"""Names the session that is asked of; None where it is not known."""


class OfSession(Protocol):
    @property
    def session(self) -> str | None: ...


@dataclass(frozen=True)
class Method:
    """A request or a command; its documents and the extension's mirror are held to it."""

    name: str
    argument: type[attrs.AttrsInstance]
    result: type[attrs.AttrsInstance]
    handler: Handler


def command(
    name: str, run: Run[A, R], name_session: Name[A] | None, *, writes: bool = True
) -> Method:
    """Declare a command; one that writes is refused where nothing may be written.

    What became of it is told to the user where the client does not do that by itself. Its refusals
    begin with what `name_session` gives; None where it is asked of no session.
    """
    argument, result = _types(run)

    @functools.wraps(run)
    async def handler(ls: UllageServer, given: object) -> R:
        if writes:
            ls.refuse_write()
        answer = await _run_named(run, name_session, ls, _read_argument(given, argument))
        if isinstance(answer, Outcome) and answer.text is None:
            resume = "" if answer.resume is None else f". Go on with: {answer.resume.command}"
            tell(ls, f"{answer.message}{resume}")
        return answer

    return Method(name, argument, result, answer_errors(handler))


def request(
    name: str, run: Run[A, R], name_session: Name[A] | None, *, writes: bool = False
) -> Method:
    """Declare a request, whose parameters become one typed argument."""
    argument, result = _types(run)

    @functools.wraps(run)
    async def handler(ls: UllageServer, params: object) -> R:
        if writes:
            ls.refuse_write()
        token: object = None
        if isinstance(params, dict):
            params = dict(cast("dict[str, object]", params))
            token = params.pop("workDoneToken", None)
        reset = client_token.set(token if isinstance(token, str | int) else None)
        try:
            return await _run_named(run, name_session, ls, _read_argument(params, argument))
        finally:
            client_token.reset(reset)

    return Method(name, argument, result, answer_errors(handler))


async def name_asked(ls: UllageServer, argument: OfSession) -> str | None:
    """Name the session of an argument: one that is followed, or that the gauge shows."""
    path = ls.gauge_path() if argument.session is None else Path(argument.session)
    followed = None if path is None else ls.sessions.followed.get(path)
    return None if followed is None else name_text(followed.loaded)


async def _run_named(
    run: Run[A, R], name_session: Name[A] | None, ls: UllageServer, argument: A
) -> R:
    """Run what answers a request; a refusal names the session that it was asked of."""
    try:
        return await run(ls, argument)
    except UllageError as error:
        name = None if name_session is None else await name_session(ls, argument)
        if name is None:
            raise
        raise UllageError(f"{name}: {error}") from None


def _types(run: Run[A, R]) -> tuple[type[A], type[R]]:
    """Give what a handler takes and answers, as its signature has it."""
    hints = cast("dict[str, object]", get_type_hints(run))
    return cast("type[A]", hints["argument"]), cast("type[R]", hints["return"])


def _read_argument(given: object, argument: type[A]) -> A:
    """Read the parameters of a request, or the argument of a command; None is all defaults.

    Raises:
        JsonRpcInvalidParams: they are not of the type, in one line.
    """
    if isinstance(given, dict):
        fields = set(attrs.fields_dict(argument))
        unknown = cast("dict[str, object]", given).keys() - fields
        if unknown:
            raise JsonRpcInvalidParams(
                f"wrong parameters: unknown {min(unknown)[:40]!r}; known are"
                f" {', '.join(sorted(fields))}"
            )
    try:
        return msgspec.convert({} if given is None else given, argument)
    except (msgspec.ValidationError, UnicodeEncodeError, OverflowError) as error:
        raise JsonRpcInvalidParams(f"wrong parameters: {error}") from None
