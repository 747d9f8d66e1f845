"""What an instruction file or memory costs in every request: what an agent is given of it."""

from collections.abc import Collection
from pathlib import Path

from ullage.app.documents.check import Surroundings
from ullage.app.documents.instruction_loading import is_in_sight, loaders_of, read_imports
from ullage.app.documents.instructions import find_instruction_cuts, find_memory_cuts, is_index
from ullage.core.documents.instructions import estimate_text
from ullage.core.text.positions import utf16_length
from ullage.core.transcript.tokens import estimate_tokens
from ullage.formats.agents.openclaw.agent import LOADER as OPENCLAW


def size_text(path: Path, text: str, around: Surroundings) -> str:
    """Say how long a file is, against the limit of the agent that has one and is in sight."""
    limit = around.config.bootstrap.max_chars
    is_limited = OPENCLAW in loaders_of(path, around) and is_in_sight(OPENCLAW.reader, path, around)
    of_limit = f" of {limit:,}" if is_limited else ""
    return length_text(path, text, around, of_limit=of_limit)


def length_text(path: Path, text: str, around: Surroundings, *, of_limit: str = "") -> str:
    """Say how long a file is, and what is loaded by it."""
    n_imported = sum(utf16_length(imported) for imported in _read_imports(path, text, around))
    more = f", {n_imported:,} imported" if n_imported else ""
    return f"{utf16_length(text):,}{of_limit} characters{more}"


def sent_text(path: Path, text: str, around: Surroundings) -> str:
    """Say about how many tokens are sent with what is imported; from the least to the most where
    agents differ."""
    importers = {loader.reader for loader in loaders_of(path, around) if loader.import_hops}
    n_imported = sum(estimate_text(imported) for imported in _read_imports(path, text, around))
    sent = [
        n_tokens + (n_imported if reader in importers else 0)
        for reader, n_tokens in _estimate_sent(path, text, around).items()
    ] or [estimate_text(text)]
    least, most = min(sent), max(sent)
    return f"~{most:,}" if least == most else f"~{least:,} to {most:,}"


def estimate_sent_tokens(path: Path, text: str, around: Surroundings) -> tuple[int, int]:
    """Estimate the least and the most that the agents in sight are given of a file itself."""
    sent = _estimate_sent(path, text, around).values() or (estimate_text(text),)
    return min(sent), max(sent)


def _read_imports(path: Path, text: str, around: Surroundings) -> Collection[str]:
    """Give the texts that a file stands for beside its own, for an agent that may come to it."""
    readers = _estimate_sent(path, text, around)
    followers = (loader for loader in loaders_of(path, around) if loader.import_hops)
    follower = next((loader for loader in followers if loader.reader in readers), None)
    return () if follower is None else read_imports(follower, path, text, around).values()


def _estimate_sent(path: Path, text: str, around: Surroundings) -> dict[str, int]:
    """Estimate what each agent is given that loads a file.

    Where none of those that load it is in sight, any of them may come to be used.
    """
    cuts = (find_memory_cuts if is_index(path) else find_instruction_cuts)(path, text, around)
    n_unseen: dict[str, int] = {loader.reader: 0 for loader in loaders_of(path, around)}
    n_unseen |= {cut.reader: estimate_tokens(text[cut.start : cut.end]) for cut in cuts}
    readers: list[str] = [reader for reader in n_unseen if is_in_sight(reader, path, around)]
    n_all = estimate_text(text)
    return {reader: max(n_all - n_unseen[reader], 0) for reader in readers or list(n_unseen)}
