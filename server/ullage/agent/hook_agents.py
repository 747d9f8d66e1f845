"""The programs that run our hooks, and what each does in its own way.

No structs: whoever asks has no time to import them.
"""

TYPE_CHECKING = False  # `typing` takes as long as a hook of a tool call
if TYPE_CHECKING:
    from collections.abc import Callable

    from ullage.core.transcript.entries import Agent

    ReadTail = Callable[[list[bytes], dict[str, object]], tuple[int | None, int] | None]


class HookAgent:
    """A program that runs our hooks, and what it does in its own way."""

    def __init__(
        self,
        name: str,
        *,
        transcripts: "Agent | None" = None,
        import_tail: "Callable[[], ReadTail] | None" = None,
        takes_steering: bool = False,
        dialect: "HookAgent | None" = None,
    ) -> None:
        self.name = name
        self.transcripts: Agent | None = transcripts
        """The agent whose row reads the transcript that it names. None where we read none: then
        events are captured, and the first of them after a compaction gives the working state
        back."""
        self.import_tail = import_tail
        """Imports what reads the last usage of lines that were appended, without msgspec."""
        self.takes_steering = takes_steering
        """Whether its summarizer heeds what a hook prints before a compaction."""
        self.dialect = dialect
        """A program that runs the hooks that are registered for this one, known by its input."""


def _import_claude_code_tail() -> "ReadTail":
    from ullage.formats.agents.claude_code.tail import read_tail

    return read_tail


def _import_codex_tail() -> "ReadTail":
    from ullage.formats.agents.codex.tail import read_tail

    return read_tail


HOOK_AGENTS = (
    HookAgent(
        "claude-code",
        transcripts="claude-code",
        import_tail=_import_claude_code_tail,
        takes_steering=True,
        dialect=HookAgent("copilot"),
    ),
    HookAgent("codex", transcripts="codex", import_tail=_import_codex_tail),
)
"""Those that `ullage install` registers hooks for."""


def hook_agent(name: str) -> HookAgent | None:
    """Find the agent that a hook is registered for."""
    return next((agent for agent in HOOK_AGENTS if agent.name == name), None)
