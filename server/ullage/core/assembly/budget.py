"""The token budget of a request: what the window holds, and what each part takes of it.

docs/design/assembly.md, "Token budget".
"""

import msgspec

RESERVE_RESPONSE_TOKENS = 8_000
RESERVE_TOOLS_TOKENS = 2_000
"""docs/design/assembly.md, "Token budget"."""


class TokenBudget(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Tokens of a request."""

    context_window: int
    reserve_response: int
    """Kept free for the answer."""
    reserve_tools: int
    """Kept free for calls of tools."""
    available: int
    """For all parts together; 0 in a window that holds no more than what is kept free."""
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
    available = max(0, window_tokens - RESERVE_RESPONSE_TOKENS - RESERVE_TOOLS_TOKENS)
    used = sum((system_prompt, bootstrap, skills, tools, memory, history, event))
    return TokenBudget(
        context_window=window_tokens,
        reserve_response=RESERVE_RESPONSE_TOKENS,
        reserve_tools=RESERVE_TOOLS_TOKENS,
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
