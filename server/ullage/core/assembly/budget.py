"""The token budget of a request: what the window holds, and what each part takes of it.

docs/design/assembly.md, "Token budget".
"""

import msgspec

RESERVE_RESPONSE_TOKENS = 8_000
RESERVE_TOOLS_TOKENS = 2_000
"""docs/design/assembly.md, "Token budget"."""
_MAX_RESPONSE_SHARE = 4
_MAX_TOOLS_SHARE = 16
"""A quarter and a sixteenth of a window are kept at most (chosen: from 32,000 tokens on, all)."""


class TokenBudget(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Tokens of a request."""

    context_window: int
    reserve_response: int
    """Kept free for the answer."""
    reserve_tools: int
    """Kept free for calls of tools."""
    available: int
    """For all parts together."""
    system_prompt: int
    """Runtime, hints and extra text."""
    bootstrap: int
    skills: int
    tools: int
    """Their list in the prompt, and their definitions beside it."""
    memory: int
    """MEMORY.md and daily logs."""
    history: int
    event: int
    used: int
    """All parts together."""
    over: int
    """How much more that is than what is available."""


def build_token_budget(
    window_tokens: int,
    *,
    system_prompt: int,
    bootstrap: int,
    skills: int,
    tools: int,
    memory: int,
    history: int,
    event: int,
) -> TokenBudget:
    """Add up the tokens of the parts, and say how much of the window is theirs."""
    reserve_response = min(RESERVE_RESPONSE_TOKENS, window_tokens // _MAX_RESPONSE_SHARE)
    reserve_tools = min(RESERVE_TOOLS_TOKENS, window_tokens // _MAX_TOOLS_SHARE)
    available = window_tokens - reserve_response - reserve_tools
    used = sum((system_prompt, bootstrap, skills, tools, memory, history, event))
    return TokenBudget(
        context_window=window_tokens,
        reserve_response=reserve_response,
        reserve_tools=reserve_tools,
        available=available,
        system_prompt=system_prompt,
        bootstrap=bootstrap,
        skills=skills,
        tools=tools,
        memory=memory,
        history=history,
        event=event,
        used=used,
        over=max(0, used - available),
    )
