"""Commands that were run: which failed, with what error, and whether a later run passed."""

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import msgspec

from ullage.core.facts.kept_arguments import SHELLS
from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.prose import gist
from ullage.core.text.wording import is_directive
from ullage.core.transcript.entries import Text, ToolResult, result_text

_MAX_COMMAND_CHARS = 160
_MAX_ERROR_CHARS = 220
_MAX_FAILURES = 3
"""Failures kept of one command; chosen."""
_TAIL_CHARS = 3000
"""How far from its end a result is searched for its error line; chosen."""
_EXIT_CODE = lazy_pattern(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|\"exit_code\")[:= ]{1,3}(\d{1,3})\b", re.IGNORECASE
)
_ERROR_LINE = lazy_pattern(
    r"(?:Error|Exception)\b[^\n]{0,3}[: ]|\b(?:error|fatal|panic|failed|failure|FAILED)\b"
    r"[^\n]{0,40}[:\]]|^E  |^ERROR|^FAIL|error\[|error TS\d|npm ERR!|not found|denied|refused|"
    r"cannot |undefined|assert",
)
_NAMED_ERROR = lazy_pattern(
    r"^(?:E  )?[^\n]{0,80}\b\w{0,60}(?:Error|Exception)(?:\b[^\n]{0,20})?: "
)
_COUNT_FAILED = lazy_pattern(
    # The digit comes first and what stands before it is looked back to: three times as quick.
    r"[1-9](?<!\w.)\d{0,6} (?:failed|errors?|failures?|failing)\b",
    re.IGNORECASE,
)
_HARD_FAILURE = lazy_pattern(
    r"Traceback \(most recent|^npm ERR!|^error(?:\[\w{1,8}\])?: |^FAILED|^fatal: |"
    r"^(?:/[\w/]{1,30})?(?:ba|z|da|k)?sh(?:: line \d{1,5}|:\d{1,5})?: ",
    re.MULTILINE,
)
_HARD_SIGNS = ("Traceback (most recent", "npm ERR!", "FAILED", "fatal: ", "\nerror", "sh:")
"""One of these is in every such failure, but for an error in the first line. A shell's own line
(`zsh:1: command not found: python`) is one."""
_MESSAGE = lazy_pattern(r"\"(?:message|error|detail)\":\s?\"((?:[^\"\\]|\\.){4,300})\"")
"""What an error's object says."""
_ERROR_TAG = lazy_pattern(r"</?[a-z_]{0,30}error>")
"""What stands around what a tool says of its failure."""
_COLOR = lazy_pattern(r"\x1b?\[\d{1,3}(?:;\d{1,3}){0,4}m")
_OUTCOME_LINE = lazy_pattern(
    r"\b\d{1,7} (?:passed|passing|tests?|ok)\b|\bcompiled\b|\bbuilt\b|\bsuccess", re.IGNORECASE
)
_VERIFIERS = lazy_pattern(
    r"\b(?:pytest|tox|nox|mypy|pyright|basedpyright|ruff|eslint|tsc|jest|vitest|mocha|gradlew?|"
    r"make|mvn|ctest|cmake|ninja|cargo(?: [a-z]{1,12})?|go (?:test|build|vet)|"
    r"(?:npm|pnpm|yarn|bun)(?: run)? "
    r"[\w:-]{1,30}|docker (?:compose|build)|terraform (?:plan|apply)|alembic|migrate)\b"
)
_LOOKERS = frozenset("cat head tail less grep rg sed awk find ls echo nl wc tree du ps".split())
_LOOKING = lazy_pattern(r"git (?:-C \S+ )?(?:log|show|diff|grep|blame|status|ls-files)\b")
CHANGE_DIR = lazy_pattern(r"^\s*cd [^&;\n]{1,200}(?:&&|;)\s{0,3}")


class CommandRun(msgspec.Struct, frozen=True, kw_only=True):
    """One command, or one other tool's failed call."""

    command: str
    key: str
    """Equal for runs that check the same thing, so that a later one answers an earlier."""
    is_failed: bool
    outcome: str
    """The error line of a failure, the counting line of a success; may be empty."""
    is_check: bool
    """Whether the command tests or builds, so that its success is worth a line."""
    is_shell: bool
    """Whether a shell ran it; else another tool's call."""
    passed_at: int | None
    """The item of the first later run that passed, of a failure."""
    n_item: int

    @property
    def is_passed_later(self) -> bool:
        return self.passed_at is not None

    @property
    def failure(self) -> str:
        """What failed and how often, without the words of its output, which decide nothing."""
        counted = _COUNT_FAILED.search(self.outcome)
        return f"{self.command} → {counted[0]}" if counted else self.command


class JudgedRun(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A judged result whose outcome is not looked for yet."""

    command: str
    key: str
    is_failed: bool
    is_check: bool
    is_shell: bool
    text: str
    n_item: int


def read_run(name: str, command: str | None, result: ToolResult, n_item: int) -> JudgedRun | None:
    """Judge one result; None where there is nothing to tell."""
    if any(part.speech for part in result.content if isinstance(part, Text)):
        # A person answers, or did not want the call.
        return None
    is_shell = name.rsplit("__", 1)[-1].lower() in SHELLS
    line = command if command is not None else name
    text = result_text(result)
    tail = text[-_TAIL_CHARS:]
    # What follows a here-document's mark is content.
    is_check = is_shell and _VERIFIERS.search(line[:400].split("<<", 1)[0]) is not None
    is_failed = result.is_error or (
        is_shell and _reads_failed(tail, is_looking=is_looking(line[:400]))
    )
    if not is_failed and not is_check:
        return None
    return JudgedRun(
        command=line,
        key=run_key(line, is_check=is_check),
        is_failed=is_failed,
        is_check=is_check,
        is_shell=is_shell,
        text=unwrap_output(text),
        n_item=n_item,
    )


def unwrap_output(text: str) -> str:
    """Give what a command printed where the result is an object around it, as Codex's was."""
    if not text.startswith('{"output":'):
        return text
    try:
        return msgspec.json.decode(text, type=_Output).output
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


class _Output(msgspec.Struct, frozen=True):
    output: str


def summarize_runs(runs: list[JudgedRun], clean: Callable[[str], str]) -> tuple[CommandRun, ...]:
    """Keep of each command its last failures and its last success, failures marked if answered.

    What they answered goes through `clean` before a line of it is quoted.
    """
    next_passed: dict[str, int] = {}
    n_kept: Counter[tuple[str, bool]] = Counter()
    kept: dict[tuple[str, str], CommandRun] = {}
    for raw in reversed(runs):
        passed_at = next_passed.get(raw.key)
        if not raw.is_failed:
            next_passed[raw.key] = raw.n_item
        n_kept[raw.key, raw.is_failed] += 1
        if n_kept[raw.key, raw.is_failed] > (_MAX_FAILURES if raw.is_failed else 1):
            continue
        tail = _COLOR.sub("", clean(raw.text)[-_TAIL_CHARS:])
        outcome = find_error_line(tail) if raw.is_failed else _success_line(tail)
        run = CommandRun(
            command=gist(CHANGE_DIR.sub("", raw.command), _MAX_COMMAND_CHARS),
            key=raw.key,
            is_failed=raw.is_failed,
            outcome=outcome,
            is_check=raw.is_check,
            is_shell=raw.is_shell,
            passed_at=passed_at if raw.is_failed else None,
            n_item=raw.n_item,
        )
        kept.setdefault((raw.key, f"failed {outcome}" if raw.is_failed else ""), run)
    return tuple(reversed(kept.values()))


@lru_cache(maxsize=512)
def _reads_failed(tail: str, *, is_looking: bool) -> bool:
    # Plain searches first: most results have none of these words, and patterns are slow.
    edges = tail if len(tail) < 800 else tail[:400] + "\n" + tail[-400:]
    codes: list[str] = _EXIT_CODE.findall(edges) if "xit" in edges else []
    if codes:
        return codes[-1] != "0"
    if is_looking:
        return False
    end = tail[-1500:]
    if not any(word in end for word in ("ail", "rror", "AIL", "ERR", "Traceback", "fatal", "sh:")):
        return False
    if _COUNT_FAILED.search(end) is not None:
        return True
    is_likely = end.startswith("error") or any(sign in end for sign in _HARD_SIGNS)
    return is_likely and _HARD_FAILURE.search(end) is not None


@lru_cache(maxsize=512)
def find_error_line(tail: str) -> str:
    """Find what a failure's output says went wrong; lines that give orders are left out."""
    said = _MESSAGE.search(tail) if tail.startswith(("{", "[")) else None
    lines = [said[1]] if said else [line.strip() for line in tail.split("\n") if line.strip()]
    lines = [_read_message(line)[:300] for line in lines]
    errors = [line for line in lines if _ERROR_LINE.search(line)]
    counted = [line for line in lines if _COUNT_FAILED.search(line)]
    # The last match is mostly a count or an exit code; the first names the cause.
    telling = [line for line in lines if not _EXIT_CODE.search(line[:200])]
    picked = [line for line in errors if line in telling] or errors or telling[-1:] or lines[-1:]
    named = [line for line in picked if _NAMED_ERROR.match(line)]
    # A traceback's last named error is the one that was raised last.
    picked = named[-1:] or picked
    parts = picked[:1] + [line for line in counted[-1:] if line not in picked[:1]]
    excerpts = [gist(line, _MAX_ERROR_CHARS) for line in parts if not is_directive(line)]
    return " | ".join(excerpts)


def _read_message(line: str) -> str:
    """Give what an error's object says where a line is one; else the line."""
    message = _MESSAGE.search(line) if line.startswith(("{", "[")) else None
    return message[1] if message else _ERROR_TAG.sub("", line)


@lru_cache(maxsize=512)
def _success_line(tail: str) -> str:
    for line in reversed(tail.split("\n")):
        if _OUTCOME_LINE.search(line[:300]) and not is_directive(line):
            return gist(line.strip("= \t"), 100)
    return ""


def run_key(command: str, *, is_check: bool) -> str:
    """Name what a command checks, the same for its variants."""
    bare = CHANGE_DIR.sub("", command[:400]).strip()
    if not is_check:
        return bare
    match = _VERIFIERS.search(bare)
    return match[0] if match else bare


def is_looking(command: str) -> bool:
    """Tell whether a command only looks around, so that its failure is no error."""
    bare = CHANGE_DIR.sub("", command).strip()
    return bare.split(" ", 1)[0] in _LOOKERS or _LOOKING.match(bare) is not None
