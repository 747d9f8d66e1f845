"""What an agent is told of its context, and whether that is as full as it was.

Light: the hook of a prompt tells it too.
"""

IMAGE_TOKENS = 1200
"""What an image costs, whatever its size (pi 0.87.1: 4,800 characters by four)."""
ADVICE_OPENING = "[Context advice] "
MAX_WINDOW_TOKENS = 100_000_000
"""Far above every context window there is (chosen)."""
MAX_PERCENT = 10_000
"""Of a limit; no program means more (chosen)."""
_ADVICE = (
    "The context is {percent} full{limit}. Bring the step at hand to an end, and say plainly what"
    " is decided and what is open. Old output of tools may be replaced by placeholders now, and old"
    " messages by a summary: read again what you need."
)


def write_gauge_line(
    share: float | None, n_used: int | None, n_window: int, *, is_estimated: bool, is_saved: bool
) -> str:
    """Write the gauge for the agent itself (docs/design/gauge.md, "The line for the agent")."""
    percent = "?" if share is None else share_text(share, is_estimated=is_estimated)
    used = "?" if n_used is None else short_tokens(n_used)
    line = f"[Context: {percent} | {used}/{short_tokens(n_window)} tokens"
    return f"{line} | Checkpoint saved]" if is_saved else f"{line}]"


def advice_text(share: float, compacted_at: int | None = None) -> str:
    """Say what to do in a context that is so full, and compacted at a size before its end."""
    limit = "" if compacted_at is None else f" and is compacted at {compacted_at:,} tokens"
    return ADVICE_OPENING + _ADVICE.format(percent=f"{share:.0%}", limit=limit)


def share_text(share: float, *, is_estimated: bool) -> str:
    """Write a share of the window; here alone it is rounded, so that no two places differ."""
    return f"{'~' if is_estimated else ''}{share:.0%}"


def short_tokens(n_tokens: int) -> str:
    """Write a number of tokens in thousands or millions: `850`, `162k`, `1.0M`."""
    if n_tokens < 1000:
        return str(n_tokens)
    if n_tokens < 999_500:
        return f"{n_tokens / 1000:.0f}k"
    return f"{n_tokens / 1_000_000:.1f}M"


def most_tokens(line: bytes) -> int:
    """Give more tokens than `tokens.estimate_tokens` finds in what a line of a transcript sends.

    That takes at most 1.5 for a byte (a digit between letters), and `IMAGE_TOKENS` for an image.
    """
    return 2 * len(line) + IMAGE_TOKENS * (line.count(b"image") + line.count(b"document"))


def is_as_full(n_old: int, n_new: int, minimum_change_percent: float) -> bool:
    """Whether a context has changed by less than a share of the tokens that it had."""
    return abs(n_new - n_old) * 100 < minimum_change_percent * max(1, n_old)


def limit_text(n_minutes: int, used_percent: int) -> str:
    """Write how much of a limit is used: `5h 24%`, `week 41%`."""
    return f"{period_text(n_minutes)} {used_percent}%"


def period_text(n_minutes: int) -> str:
    """Write how long a limit is for, in whole hours: Codex tells 299 minutes for five of them."""
    if n_minutes < 60:
        return f"{n_minutes}m"
    n_hours = (n_minutes + 30) // 60
    if n_hours == 7 * 24:
        return "week"
    return f"{n_hours}h" if n_hours % 24 else f"{n_hours // 24}d"


def holds_still(resets_at_s: int, now_s: float) -> bool:
    """Whether what was told of a limit is true still; 0 where it is not known until when."""
    return not 0 < resets_at_s <= now_s


def cost_text(micro_usd: int) -> str:
    """Write a sum of money, given in millionths of a dollar."""
    return f"${micro_usd / 1_000_000:,.2f}" if micro_usd >= 5_000 else "<$0.01"
