"""The form in which the session's story is written down: steps, and the tool calls in them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from demo_workspace import Workspace

Arguments: TypeAlias = dict[str, object]
Act: TypeAlias = Callable[[Workspace], str]
"""Does what a tool call does to the work tree, and gives its output."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call and what comes of it."""

    tool: str
    arguments: Arguments
    act: Act
    is_error: bool = False
    seconds: float = 1.0


@dataclass(frozen=True, kw_only=True)
class User:
    """What the user types, and how long it took since the answer before."""

    text: str
    wait_s: int


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer of the model; without calls it ends the turn."""

    text: str
    thinking: str = ""
    calls: tuple[Call, ...] = field(default=())


@dataclass(frozen=True, kw_only=True)
class Compact:
    """The agent's own compaction."""

    summary: str


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit that the user makes in another window, which only `git diff` shows."""


Step: TypeAlias = User | Answer | Compact | Commit


def user(text: str, wait_s: int = 240) -> User:
    """Let the user type something."""
    return User(text=text.strip(), wait_s=wait_s)


def say(text: str, *calls: Call, think: str = "") -> Answer:
    """Let the model answer, think before, and call tools after."""
    return Answer(text=text.strip(), thinking=think.strip(), calls=calls)


def read(path: str, offset: int | None = None, limit: int | None = None) -> Call:
    """Read a file or a part of it."""
    arguments: Arguments = {"path": path}
    if offset is not None:
        arguments["offset"] = offset
    if limit is not None:
        arguments["limit"] = limit
    return Call(
        tool="read",
        arguments=arguments,
        act=lambda tree: tree.read(path, offset, limit),
        seconds=0.1,
    )


def write(path: str, text: str) -> Call:
    """Write a whole file."""
    return Call(
        tool="write",
        arguments={"path": path, "content": text},
        act=lambda tree: tree.write(path, text),
        seconds=0.1,
    )


def edit(path: str, *edits: tuple[str, str]) -> Call:
    """Replace pieces of a file."""
    shown = [{"oldText": old, "newText": new} for old, new in edits]
    return Call(
        tool="edit",
        arguments={"path": path, "edits": shown},
        act=lambda tree: tree.edit(path, edits),
        seconds=0.2,
    )


def grep(pattern: str, path: str = "", glob: str = "") -> Call:
    """Search the files below a folder."""
    arguments: Arguments = {"pattern": pattern}
    if path:
        arguments["path"] = path
    if glob:
        arguments["glob"] = glob
    return Call(
        tool="grep",
        arguments=arguments,
        act=lambda tree: tree.grep(pattern, path, glob or "*"),
        seconds=0.2,
    )


def bash(command: str, output: str | Act, *, code: int = 0, seconds: float = 1.5) -> Call:
    """Run a command; a code other than 0 makes the result an error, as in pi."""

    def act(tree: Workspace) -> str:
        text = output if isinstance(output, str) else output(tree)
        text = text.strip("\n")
        return f"{text}\n\nCommand exited with code {code}" if code else text or "(no output)"

    return Call(
        tool="bash",
        arguments={"command": command},
        act=act,
        is_error=code != 0,
        seconds=seconds,
    )


def cat(*paths: str) -> Call:
    """Print several files at once."""
    return bash(f"cat {' '.join(paths)}", lambda tree: "\n".join(tree.files[p] for p in paths))


def numbered(path: str, first: int, last: int) -> Call:
    """Print some lines of a file with their numbers."""
    return bash(
        f"cat -n {path} | sed -n '{first},{last}p'", lambda tree: tree.numbered(path, first, last)
    )


def diff(*prefixes: str) -> Call:
    """Show what changed since the last commit."""
    command = " ".join(("git diff", *(("--", *prefixes) if prefixes else ())))
    return bash(command, lambda tree: tree.diff(*prefixes))
