"""What a hook may print, in the words of each agent.

All three take `hookSpecificOutput.additionalContext` and nothing beside it from us: Codex refuses
keys that it does not know, and a `decision`, a `continue` or an exit code of 2 would stop the
user's work.
"""

import msgspec

MAX_CONTEXT_CHARS = 9_000
"""Claude Code replaces what is above 10,000 by a preview; Codex cuts at 2,500 tokens, which
`injection_tokens` keeps far below (docs/design/agents.md, "Hooks")."""


class _HookOutput(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    hook_event_name: str
    additional_context: str


class _Output(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    hook_specific_output: _HookOutput


def context_output(event_name: str, text: str) -> bytes:
    """Write what adds a text to the agent's context; nothing where there is no text."""
    if not text:
        return b""
    inner = _HookOutput(hook_event_name=event_name, additional_context=text[:MAX_CONTEXT_CHARS])
    return msgspec.json.encode(_Output(hook_specific_output=inner))
