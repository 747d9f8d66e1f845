"""Small inputs that would take all memory or minutes of any reader that trusts them."""

import json
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blank_lines import joined
from claude_files import ClaudeFile, text
from codex_files import CodexFile
from gemini_files import GeminiFile
from packing import zstd
from pi_files import PiFile
from running import Place
from ullage.core.transcript.entries import MAX_HELD_BYTES, MemoryLines
from ullage.store.config.agent_settings import parse_toml
from ullage.store.transcript import packed
from ullage.store.transcript.packed import PackedLines
from ullage.store.transcript.reader import BLOCK_BYTES, FileLines

N_BLANK = 50_000_000
MAX_BYTES = 88 * 2**20
"""What reading may take beside Python and its modules, which have 62 MB: 150 MB in all (C9)."""
READING = (("context", "status"), ("checkpoint", "write"), ("doctor",), ("context", "inspect"))
NUMBERS = {
    "beyond all floats": b"1e999",
    "a large float": b"1e300",
    "a float of many digits": b"0." + b"1" * 100_000,
    "as many digits as Python reads": b"9" * 4000,
    "more digits": b"9" * 100_000,
}
NESTED = {
    "as deep as can be read": b"[" * 900 + b"]" * 900,
    "deeper": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "without an end": b"[" * 100_000,
}
pieces = st.sampled_from([b"\n", b"\n\n", b" ", b"abc", b"x" * 9])
contents = st.lists(pieces, min_size=1, max_size=12).map(b"".join)


@pytest.mark.parametrize("blank", [b"\n", b" \t\r\n"], ids=ascii)
def test_fifty_megabytes_of_blank_lines_are_a_few_lines(place: Place, blank: bytes) -> None:
    data = b"{}\n" + blank * (N_BLANK // len(blank)) + b"{}\n"
    lines = FileLines(place.write("blank.jsonl", data))
    for read in (lines.forward, lines.backward):
        sizes = [len(line.raw) for line in read()]
        assert sum(sizes) == len(data)
        assert len(sizes) < N_BLANK // BLOCK_BYTES * 2 + 5
    for read in (MemoryLines(data).forward, MemoryLines(data).backward):
        assert sum(1 for _ in read()) == 3


def test_lines_behind_blank_ones_are_told_by_their_number(place: Place) -> None:
    pi = PiFile(cwd=str(place.cwd))
    pi.raw(b"\n" * 1000)
    pi.raw(b"no JSON\n")
    path = place.write("s.jsonl", pi.data)
    told = json.loads(place.run("doctor", "--session", path, "--json").stdout)
    assert [finding["line"] for finding in told["findings"]] == [1002]


def pack(path: Path, *pieces: tuple[bytes, int]) -> Path:
    """Write one frame of pieces, each so many times over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    compressor = zstd.ZstdCompressor()
    with path.open("wb") as file:
        for piece, n_times in pieces:
            for _ in range(n_times):
                file.write(compressor.compress(piece))
        file.write(compressor.flush())
    return path


@pytest.mark.parametrize("fill", [b"\0", b"\n"], ids=ascii)
def test_what_unpacks_to_more_than_a_gigabyte_is_refused_and_never_held(
    place: Place, fill: bytes
) -> None:
    codex = CodexFile(cwd=str(place.cwd))
    codex.user("hello")
    bomb = pack(place.cwd / "s.jsonl.zst", (codex.data, 1), (fill * 2**22, 260))
    assert bomb.stat().st_size < 64 * 1024
    tracemalloc.start()
    try:
        done = place.run("context", "status", "--session", bomb)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (done.returncode, done.stdout) == (3, "")
    assert "it unpacks to more than 1 GB" in done.stderr
    assert most_bytes < MAX_BYTES


@pytest.mark.parametrize("name", ["s.jsonl", "s.jsonl.zst"])
def test_a_long_line_below_that_is_never_held_whole(place: Place, name: str) -> None:
    codex = CodexFile(cwd=str(place.cwd))
    codex.user("hello")
    path = place.write(name, codex.data + b"\0" * 80 * 2**20)
    if name.endswith(".zst"):
        pack(path, (path.read_bytes(), 1))
    # What is imported and kept by a first run is not of this one.
    for is_counted in (False, True):
        tracemalloc.start()
        done = place.run("context", "status", "--session", path)
        _, most_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert done.returncode == 0, done.stderr
        assert most_bytes < MAX_BYTES or not is_counted


def test_a_record_that_is_too_long_to_be_held_is_not_copied(place: Place) -> None:
    pi = PiFile(cwd=str(place.cwd))
    pi.user("x" * MAX_HELD_BYTES)
    pi.assistant("Done.")
    path = place.write("s.jsonl", pi.data)
    for command in (("context", "branch"), ("doctor", "--repair", "copy.jsonl")):
        done = place.run(*command, "--session", path)
        assert (done.returncode, "is more than Ullage copies" in done.stderr) == (4, True)
    assert list(place.cwd.iterdir()) == [path]


def test_a_bomb_hides_no_other_session_and_is_told_of(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "MAX_UNPACKED_BYTES", 2**24)
    folder = place.home / ".codex" / "sessions"
    whole, bad = CodexFile(cwd=str(place.cwd)), CodexFile(cwd=str(place.cwd), id="b" * 36)
    whole.user("Rename the cart of the shop, please")
    pack(folder / "rollout-b.jsonl.zst", (bad.data, 1), (b"\n" * 2**22, 5))
    (folder / "rollout-a.jsonl").write_bytes(whole.data)
    listed = place.run("sessions").stdout
    assert "Rename the cart" in listed
    assert "it unpacks to more than" in listed


@given(data=contents, max_blocks=st.integers(1, 5), block_bytes=st.integers(1, 12))
def test_a_packed_file_has_the_lines_of_its_bytes_in_both_directions(
    data: bytes, max_blocks: int, block_bytes: int, tmp_path: Path
) -> None:
    path = pack(tmp_path / "s.jsonl.zst", (data, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "BLOCK_BYTES", block_bytes)
        patch.setattr(packed, "MAX_BLOCKS", max_blocks)
        lines, expected = PackedLines(path), list(MemoryLines(data).forward())
        assert joined(lines.forward()) == expected
        assert joined(list(lines.backward())[::-1]) == expected
        assert lines.size_bytes == len(data)
        for at, line in enumerate(expected):
            assert joined(lines.forward(line.offset)) == expected[at:]


@pytest.mark.parametrize("n_lost", [1, 5, 40])
def test_a_packed_file_that_is_cut_off_is_said_to_be_damaged(place: Place, n_lost: int) -> None:
    path = pack(place.cwd / "s.jsonl.zst", (CodexFile().data * 20, 1))
    path.write_bytes(path.read_bytes()[:-n_lost])
    done = place.run("context", "status", "--session", path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "not a whole zstd file" in done.stderr


def small_sessions(place: Place) -> dict[str, bytes]:
    """Give a session of each agent that keeps files, with figures of usage."""
    cwd = str(place.cwd)
    pi, claude, codex = PiFile(cwd=cwd), ClaudeFile(cwd=cwd), CodexFile(cwd=cwd)
    gemini = GeminiFile()
    for session in (pi, claude, codex, gemini):
        session.user("Rename the cart of the shop, please")
    pi.assistant("Done.", usage=4242)
    claude.assistant(text("Done."), usage=4242)
    codex.assistant("Done.", n_total=4242)
    gemini.model("Done.")
    sessions = {"pi": pi, "claude": claude, "codex": codex, "gemini": gemini}
    return {name: session.data for name, session in sessions.items()}


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("agent", ["pi", "claude", "codex", "gemini"])
def test_a_number_of_any_size_stops_no_reading(place: Place, agent: str, number: str) -> None:
    data = small_sessions(place)[agent]
    for at, match in enumerate(re.finditer(rb'(?<=":)\d+', data)):
        bad = data[: match.start()] + NUMBERS[number] + data[match.end() :]
        path = place.write("s.jsonl", bad)
        done = place.run(*READING[at % len(READING)], "--session", path)
        assert done.returncode in (0, 3), (match, done.stderr)


@pytest.mark.parametrize("nested", NESTED)
@pytest.mark.parametrize("agent", ["pi", "claude", "codex", "gemini"])
def test_nesting_of_any_depth_stops_no_reading(place: Place, agent: str, nested: str) -> None:
    data = small_sessions(place)[agent]
    for at, match in enumerate(re.finditer(rb'(?<=":)\{', data)):
        bad = data[: match.end()] + b'"deep":' + NESTED[nested] + b"," + data[match.end() :]
        path = place.write("s.jsonl", bad)
        done = place.run(*READING[at % len(READING)], "--session", path)
        assert done.returncode in (0, 3), (match, done.stderr)


@pytest.mark.parametrize(
    "key", [b"a.", b"a . ", b'"a b".', b"'='.", b'"\\"".', b"{x={a."], ids=ascii
)
def test_a_key_of_many_parts_in_codex_settings_takes_no_memory(place: Place, key: bytes) -> None:
    settings = place.home / ".codex" / "config.toml"
    settings.parent.mkdir()
    part = key.rpartition(b"{")[2]
    settings.write_bytes(b"a=" * key.startswith(b"{") + key + part * 5_000 + b"a=1\n")
    path = place.write("s.jsonl", small_sessions(place)["codex"])
    assert place.run("context", "status", "--session", path).returncode == 0
    with pytest.raises(ValueError, match="no settings file"):
        parse_toml(settings.read_bytes())


def test_settings_of_codex_with_many_dots_in_their_texts_are_read() -> None:
    text = b"a . b " * 9 + b"..." * 100 + b"Do this. Do that. " * 100
    assert parse_toml(b'notify = "' + text + b'"\n[mcp_servers.a."b.c".d]\n')["notify"]
