"""Texts of ours that a runtime puts into the conversation: told from what the user says."""

GAUGE_OPENING = "[Context: "
RESTORE_OPENING = "[Post-compaction checkpoint restore]"
ADVICE_OPENING = "[Context advice] "
WARNING_OPENING = "[Context warning] "
PREFACE = "The conversation before this point was compacted. This summary stands for it:\n\n"
"""Tells the model what our summaries are; no part of the summary itself."""

_OPENINGS = (GAUGE_OPENING, RESTORE_OPENING, ADVICE_OPENING, WARNING_OPENING)


def is_injected(text: str) -> bool:
    """Whether a message is one of ours: it is no turn of the user, and nothing the user decided."""
    return text.startswith(_OPENINGS)
