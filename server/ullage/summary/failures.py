"""Failures of a request: what each means, and whether another try may help.

Texts of the server stay out of the messages: they may repeat the prompt or the key.
"""

import re
from collections.abc import Iterator
from ssl import SSLCertVerificationError

import msgspec

from ullage.errors import BadAnswer, ContextOverflow, ModelBusy, ModelDenied, ModelError
from ullage.errors import ModelUnreachable as Unreachable

_OVERFLOW = re.compile(
    r"context[_ ](?:length|size|window)|maximum (?:context|input)|max(?:imum)?_?model_?len"
    r"|prompt is too long|too many (?:input )?tokens|input is too long"
    r"|exceed\w* .{0,60}(?:context|num_ctx|token limit)|reduce the length"
    r"|request too large|input length .{0,40}exceed",
    re.IGNORECASE,
)
"""llama.cpp: `the request exceeds the available context size`; OpenAI: `context_length_exceeded`,
`maximum context length is`; OpenRouter: `This endpoint's maximum context length is`; vLLM:
`maximum model length`; Ollama: `input length exceeds the context length`; Anthropic behind a
gateway: `prompt is too long`."""
_TRANSIENT = frozenset((408, 409, 425, 429))
_MAX_TEXT_CHARS = 20_000
_OVERFLOW_STATUSES = frozenset((400, 413, 422, 500))


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a try failed."""

    error: ModelError
    is_transient: bool
    retry_after: str | None = None
    """The header of that name."""


def status_failure(status: int, text: str, retry_after: str | None, origin: str) -> Failure:
    """Judge an answer that is an error by its status, and its text where the status is not clear.

    `text` is the server's, as it came.
    """
    if status == 413 or (status in _OVERFLOW_STATUSES and is_overflow(text)):
        return Failure(error=overflow(), is_transient=False)
    if status == 429 and "insufficient_quota" in text[:_MAX_TEXT_CHARS]:
        denied = ModelDenied(f"the quota of your key for {origin} is used up: see your plan there")
        return Failure(error=denied, is_transient=False)
    if status == 429:
        busy = ModelBusy(f"{origin} takes no more requests now: try again later")
        return Failure(error=busy, is_transient=True, retry_after=retry_after)
    if status in _TRANSIENT or status >= 500:
        failed = Unreachable(f"{origin} failed (HTTP {status}): try again later")
        return Failure(error=failed, is_transient=True, retry_after=retry_after)
    return Failure(error=ModelDenied(_denial_text(status, origin)), is_transient=False)


def _denial_text(status: int, origin: str) -> str:
    match status:
        case 401 | 403:
            return (
                f"{origin} does not take the key (HTTP {status}): look whether it is the right one"
            )
        case 402:
            return f"{origin} wants to be paid first (HTTP 402): see your credits there"
        case 404:
            return f"{origin} does not know this model or address (HTTP 404): look at both"
        case _:
            return f"{origin} refused the request (HTTP {status}): try another model"


def is_overflow(text: str) -> bool:
    """Tell whether an error's text says that the prompt does not fit into the context."""
    return _OVERFLOW.search(text[:_MAX_TEXT_CHARS]) is not None


def overflow() -> ContextOverflow:
    return ContextOverflow(
        "the messages do not fit into the model's context: use one with a larger window"
    )


def stream_failure(text: str, code: str | None, origin: str) -> Failure:
    """Judge an error that came in the middle of an answer."""
    if code is not None and code.isdecimal() and 400 <= int(code[:4]) < 600:
        return status_failure(int(code[:4]), text, None, origin)
    if is_overflow(text) or is_overflow(code or ""):
        return Failure(error=overflow(), is_transient=False)
    return Failure(
        error=BadAnswer(f"{origin} broke its answer off with an error: try again later"),
        is_transient=False,
    )


def connection_failure(origin: str, cause: BaseException) -> Failure:
    """Judge a connection that was not made or broke, by what that came of."""
    if any(isinstance(error, SSLCertVerificationError) for error in _causes_of(cause)):
        untrusted = ModelDenied(
            f"{origin} shows no certificate that is trusted for it: nothing was sent."
            " One of your own goes into the file that SSL_CERT_FILE names"
        )
        return Failure(error=untrusted, is_transient=False)
    error = Unreachable(f"no connection to {origin}, or it broke: look whether it is running")
    return Failure(error=error, is_transient=True)


def _causes_of(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def silence_failure(origin: str) -> Failure:
    error = Unreachable(f"{origin} did not answer in time: try again later")
    return Failure(error=error, is_transient=True)
