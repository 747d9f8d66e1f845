"""What an instruction file or memory costs in every request: what an agent is given of it."""

from pathlib import Path

from ullage.app.document_check import Surroundings
from ullage.app.instruction_loading import OPENCLAW, is_in_sight, loaders_of
from ullage.app.instructions import instruction_cuts, is_index, memory_cuts
from ullage.core.instructions import Reader
from ullage.core.positions import utf16_length
from ullage.core.text_sections import text_tokens
from ullage.core.token_estimate import estimate_tokens


def size_text(path: Path, text: str, around: Surroundings) -> str:
    """Say how long a file is, against the limit of the agent that has one."""
    n_chars = utf16_length(text)
    limit = around.config.bootstrap.max_chars
    of_limit = f" of {limit:,}" if OPENCLAW in loaders_of(path, around) else ""
    return f"{n_chars:,}{of_limit} characters"


def sent_text(path: Path, text: str, around: Surroundings) -> str:
    """Say about how many tokens are sent; from the least to the most where agents differ."""
    least, most = sent_tokens(path, text, around)
    return f"~{most:,}" if least == most else f"~{least:,} to {most:,}"


def sent_tokens(path: Path, text: str, around: Surroundings) -> tuple[int, int]:
    """Estimate the least and the most that the agents in sight are given of a file.

    Where none of those that load it is in sight, any of them may come to be used.
    """
    cuts = (memory_cuts if is_index(path) else instruction_cuts)(path, text, around)
    n_unseen: dict[Reader, int] = {one.reader: 0 for one in loaders_of(path, around)}
    n_unseen |= {cut.reader: estimate_tokens(text[cut.start : cut.end]) for cut in cuts}
    readers: list[Reader] = [one for one in n_unseen if is_in_sight(one, path, around)]
    n_all = text_tokens(text)
    sent = [max(n_all - n_unseen[one], 0) for one in readers or list(n_unseen)]
    return min(sent, default=n_all), max(sent, default=n_all)
