"""Texts of ours that a runtime puts into the conversation: told from what the user says."""

GAUGE_OPENING = "[Context: "
RESTORE_OPENING = "[Post-compaction checkpoint restore]"
ADVICE_OPENING = "[Context advice] "
WARNING_OPENING = "[Context warning] "
PREFACE = "The conversation before this point was compacted. This summary stands for it:\n\n"
"""Tells the model what our summaries are; no part of the summary itself."""

_ADVICE = (
    "The context is {percent} full. Bring the step at hand to an end, and say plainly what is"
    " decided and what is open. Old output of tools may be replaced by placeholders now, and old"
    " messages by a summary: read again what you need."
)

_OPENINGS = (GAUGE_OPENING, RESTORE_OPENING, ADVICE_OPENING, WARNING_OPENING)


def advice_text(share: float) -> str:
    """Say what to do in a context that is so full."""
    return ADVICE_OPENING + _ADVICE.format(percent=f"{share:.0%}")


def is_injected(text: str) -> bool:
    """Whether a message is one of ours: it is no turn of the user, and nothing the user decided."""
    return text.startswith(_OPENINGS)
