"""Commands that were run: which failed, with what error, and whether a later run passed."""

import re

import msgspec

from ullage.core.arguments import SHELLS
from ullage.core.message import ToolResult, result_text
from ullage.core.prose import gist
from ullage.core.wording import is_directive

_MAX_COMMAND_CHARS = 160
_MAX_ERROR_CHARS = 220
_TAIL_CHARS = 4000
"""How far from its end a result is searched for its error line; chosen."""
_EXIT_CODE = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|\"exit_code\")[:= ]{1,3}(\d{1,3})\b", re.IGNORECASE
)
_ERROR_LINE = re.compile(
    r"\w{0,60}(?:Error|Exception)\b[^\n]{0,3}[: ]|\b(?:error|fatal|panic|failed|failure|FAILED)\b"
    r"[^\n]{0,40}[:\]]|^E  |^ERROR|^FAIL|error\[|error TS\d|npm ERR!|not found|denied|refused|"
    r"cannot |undefined|assert",
)
_NAMED_ERROR = re.compile(r"^(?:E  )?[^\n]{0,80}\b\w{0,60}(?:Error|Exception)(?:\b[^\n]{0,20})?: ")
_COUNT_FAILED = re.compile(r"\b[1-9]\d{0,6} (?:failed|errors?|failures?|failing)\b", re.IGNORECASE)
_HARD_FAILURE = re.compile(
    r"Traceback \(most recent|^npm ERR!|^error(?:\[\w{1,8}\])?: |^FAILED|^fatal: ", re.MULTILINE
)
_OUTCOME_LINE = re.compile(
    r"\b\d{1,7} (?:passed|passing|tests?|ok)\b|\bcompiled\b|\bbuilt\b|\bsuccess", re.IGNORECASE
)
_VERIFIERS = re.compile(
    r"\b(?:pytest|tox|nox|mypy|pyright|basedpyright|ruff|eslint|tsc|jest|vitest|mocha|gradlew?|make|"
    r"mvn|ctest|cmake|ninja|cargo(?: [a-z]{1,12})?|go (?:test|build|vet)|(?:npm|pnpm|yarn|bun)(?: run)? "
    r"[\w:-]{1,30}|docker (?:compose|build)|terraform (?:plan|apply)|alembic|migrate)\b"
)
_LOOKERS = frozenset("cat head tail less grep rg sed awk find ls git echo nl wc".split())
_CHANGE_DIR = re.compile(r"^\s*cd [^&;\n]{1,200}(?:&&|;)\s{0,3}")


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One command, or one other tool's failed call."""

    command: str
    key: str
    """Equal for runs that check the same thing, so that a later one answers an earlier."""
    is_failed: bool
    outcome: str
    """The error line of a failure, the counting line of a success; may be empty."""
    is_check: bool
    """Whether the command tests or builds, so that its success is worth a line."""
    is_passed_later: bool
    n_item: int


def read_run(name: str, command: str | None, result: ToolResult, n_item: int) -> Run | None:
    """Judge one result; None where there is nothing to tell."""
    is_shell = name.lower() in SHELLS or command is not None
    line = command if command is not None else name
    tail = result_text(result)[-_TAIL_CHARS:]
    program = line.split(" ", 1)[0]
    is_check = is_shell and _VERIFIERS.search(line[:400]) is not None
    is_failed = result.is_error or (is_shell and _reads_failed(tail, program))
    if not is_failed and not is_check:
        return None
    return Run(
        command=gist(_CHANGE_DIR.sub("", line), _MAX_COMMAND_CHARS),
        key=run_key(line, is_check=is_check),
        is_failed=is_failed,
        outcome=_error_line(tail) if is_failed else _success_line(tail),
        is_check=is_check,
        is_passed_later=False,
        n_item=n_item,
    )


def settle_runs(runs: list[Run]) -> tuple[Run, ...]:
    """Keep of each command its last failure and its last success, failures marked if answered."""
    last_passed = {run.key: run.n_item for run in runs if not run.is_failed}
    kept: dict[tuple[str, bool, str], Run] = {}
    for run in runs:
        is_answered = run.is_failed and last_passed.get(run.key, -1) > run.n_item
        kept[run.key, run.is_failed, run.outcome if run.is_failed else ""] = (
            msgspec.structs.replace(run, is_passed_later=is_answered) if is_answered else run
        )
    return tuple(sorted(kept.values(), key=lambda run: run.n_item))


def _reads_failed(tail: str, program: str) -> bool:
    codes: list[str] = _EXIT_CODE.findall(tail[-400:]) or _EXIT_CODE.findall(tail[:400])
    if codes:
        return codes[-1] != "0"
    if program in _LOOKERS:
        return False
    end = tail[-1500:]
    return _COUNT_FAILED.search(end) is not None or _HARD_FAILURE.search(end) is not None


def _error_line(tail: str) -> str:
    lines = [line.strip()[:300] for line in tail.split("\n") if line.strip()]
    found = [line for line in lines if _ERROR_LINE.search(line)]
    counted = [line for line in lines if _COUNT_FAILED.search(line)]
    # The last match is mostly a count or an exit code; the first names the cause.
    picked = [line for line in found if not _EXIT_CODE.search(line[:200])] or found or lines[-1:]
    named = [line for line in picked if _NAMED_ERROR.match(line)]
    # A traceback's last named error is the one that was raised last.
    picked = named[-1:] or picked
    parts = picked[:1] + [line for line in counted[-1:] if line not in picked[:1]]
    told = [gist(line, _MAX_ERROR_CHARS) for line in parts if not is_directive(line)]
    return " | ".join(told)


def _success_line(tail: str) -> str:
    for line in reversed(tail.split("\n")):
        if _OUTCOME_LINE.search(line[:300]) and not is_directive(line):
            return gist(line.strip("= \t"), 100)
    return ""


def run_key(command: str, *, is_check: bool) -> str:
    """Name what a command checks, the same for its variants."""
    bare = _CHANGE_DIR.sub("", command[:400]).strip()
    if not is_check:
        return bare
    found = _VERIFIERS.search(bare)
    return found[0] if found else bare
