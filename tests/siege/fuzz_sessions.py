"""Readers of sessions that are fuzzed: every agent's files, and bundles."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from claude_files import ClaudeFile, call, result, text, thinking
from codex_files import CodexFile
from gemini_files import GeminiFile
from packing import zstd
from pi_files import PiFile, conversation
from ullage.app.checkpoint.resume import restore_text
from ullage.app.checkpoint.write import build_checkpoint
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.transfer.bundle import plan_export, plan_import
from ullage.app.transfer.doctor import check_up, plan_copy
from ullage.core.checkpoint.bundle import digest
from ullage.core.config.settings import Config
from ullage.core.facts.collect import collect_facts
from ullage.core.summary.extract import summarize
from ullage.store.files.places import Places

SAMPLES = Path(__file__).parents[1] / "samples"
PIECE_BYTES = 2500
"""Of a transcript, so that an input takes a few milliseconds (chosen)."""
PACKED = b"\x28\xb5\x2f\xfd"
"""What zstd files begin with."""
Take = Callable[[bytes], object]


def count_roughly(text: str, encoding: str) -> int:
    """Count tokens without a tokenizer, which is no reader of what others wrote."""
    del encoding
    return len(text) // 4


def _list_transcripts() -> Iterator[bytes]:
    """Give the head of each sample with some of its lines, and small sessions of every agent."""
    for path in sorted(SAMPLES.rglob("*.jsonl")):
        first, *lines = path.read_bytes().split(b"\n")
        piece = [first]
        for line in lines:
            if len(line) > PIECE_BYTES // 2:
                continue
            if sum(map(len, piece)) + len(line) > PIECE_BYTES:
                yield b"\n".join(piece) + b"\n"
                piece = [first]
            piece.append(line)
        yield b"\n".join(piece) + b"\n"
    yield from _make_sessions()


def _make_sessions() -> Iterator[bytes]:
    yield conversation(2, chars=200).data
    for version in (1, 2):
        pi = PiFile(version=version)
        pi.user("Never touch the migrations folder.")
        pi.compaction("## Goal\n\nRename the cart.", 1)
        yield pi.data
    claude_code = ClaudeFile()
    claude_code.user("Always use `uv`, please. Rename the cart.")
    claude_code.assistant(thinking("so"), text("We decided on SQLite."), call("c1", command="ls"))
    claude_code.user([result("c1", "Error: no such file", is_error=True)])
    claude_code.summary("This session goes on.")
    yield claude_code.data
    codex_file = CodexFile()
    codex_file.turn()
    codex_file.user("Rename the cart.")
    codex_file.tool("done")
    codex_file.compact("What was done")
    yield codex_file.data
    gemini = GeminiFile()
    gemini.user("Rename the cart.")
    gemini.compress("What was done")
    yield gemini.data
    yield gemini.document


TRANSCRIPTS = tuple(_list_transcripts())


def _load(path: Path, places: Places) -> Loaded:
    return load(open_session(path), Config(), places, count_roughly)


def read_transcripts(places: Places) -> Take:
    path = places.cwd / "session.jsonl"

    def take(given: bytes) -> None:
        path.write_bytes(given)
        loaded = _load(path, places)
        loaded.session.agent.messages(loaded.context)

    return take


def summarize_transcripts(places: Places) -> Take:
    path = places.cwd / "session.jsonl"

    def take(given: bytes) -> None:
        path.write_bytes(given)
        loaded = _load(path, places)
        facts = collect_facts(loaded.context.items)
        summarize(loaded.context.items, focus=None, budget_tokens=800, count=len, facts=facts)
        restore_text(build_checkpoint(loaded, places, trigger="manual"), Config().checkpoint, ())

    return take


def repair_transcripts(places: Places) -> Take:
    path = places.cwd / "session.jsonl"

    def take(given: bytes) -> None:
        path.write_bytes(given)
        plan_copy(check_up(path.name, places), Path("copy.jsonl"), places)

    return take


def read_packed(places: Places) -> Take:
    path = places.cwd / "rollout.jsonl.zst"

    def take(given: bytes) -> None:
        path.write_bytes(given if given.startswith(PACKED) else zstd.compress(given))
        _load(path, places)

    return take


def read_databases(places: Places) -> Take:
    path = places.cwd / "opencode.db"

    def take(given: bytes) -> None:
        path.write_bytes(given)
        _load(path, places)

    return take


def decode_loosely(given: bytes) -> object:
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given.decode("utf-8", "replace")


def list_bundles() -> tuple[bytes, ...]:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        places = Places(cwd=root, home=root, env={}, state_folder=root / "state")
        bundles: list[bytes] = []
        for number, seed in enumerate(_make_sessions()):
            (root / f"{number}.jsonl").write_bytes(seed)
            loaded = _load(root / f"{number}.jsonl", places)
            for is_redacted in (False, True):
                export = plan_export(loaded, root / "out", places, is_redacted=is_redacted)
                bundles.append(export.data)
        return tuple(bundles)


def import_bundles(places: Places) -> Take:
    path = places.cwd / "bundle.json"

    def take(given: bytes) -> None:
        path.write_bytes(_signed(given))
        plan_import(path, places)

    return take


def _signed(given: bytes) -> bytes:
    """Sign a damaged bundle anew where it can be, so that more of it is read than its digest."""
    body = decode_loosely(given)
    if not isinstance(body, dict):
        return given
    return json.dumps({**body, "sha256": digest(body)}).encode()
