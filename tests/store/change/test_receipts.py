"""Receipts: what was done to a session can be read back, whatever became of some of the files."""

import os
import re
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.changing import KEY, occasion
from ullage.core.change.edit import LineChange
from ullage.core.change.receipt import ChangeReason, FileBefore, Receipt
from ullage.store.change.receipts import (
    KEPT_RECEIPTS,
    add_receipt,
    decode,
    encode,
    list_receipts,
    mark,
    receipts_folder,
)
from ullage.store.files.places import Places, earlier_folder_name, folder_name, session_folder

OLD_S = 40 * 24 * 3600


def receipt(occasion: ChangeReason, *, originals: tuple[LineChange, ...] = ()) -> Receipt:
    return Receipt(
        receipt_id="",
        state="planned",
        occasion=occasion,
        change="rewrite",
        path="/sessions/s.jsonl",
        before=FileBefore(device=1, inode=2, size_bytes=3, mtime_ns=4, head_sha256="5"),
        appended_sha256="",
        originals=originals,
        backup=None,
        new_path=None,
        new_sha256=None,
    )


@given(st.lists(st.tuples(st.binary(), st.binary())), st.text())
def test_original_lines_come_back_byte_for_byte(lines: list[tuple[bytes, bytes]], key: str) -> None:
    changes = tuple(LineChange(offset=at, old=old, new=new) for at, (old, new) in enumerate(lines))
    one = receipt(msgspec.structs.replace(occasion(), session_key=key), originals=changes)
    assert decode(encode(one)) == one


def test_a_receipt_on_disk_keeps_the_names_of_its_fields() -> None:
    data = encode(receipt(occasion(), originals=(LineChange(offset=1, old=b"a", new=b"\xff"),)))
    assert b" ".join(re.findall(rb'"(\w+)":', data)) == (
        b"version id state kind layer at sessionKey tokensBefore tokensAfter replacedIds"
        b" replacedBytes replacedSha256 undoes change path before device inode sizeBytes mtimeNs"
        b" headSha256 appendedSha256 originals offset old new backup newPath newSha256"
        b" leftSizeBytes"
    )
    assert b'"new": "/w=="' in data


def test_a_name_that_is_no_text_is_written_as_its_escape() -> None:
    odd = msgspec.structs.replace(receipt(occasion()), path="/s\udcff.jsonl")
    assert decode(encode(odd)).path == "/s\\udcff.jsonl"


def test_receipts_are_listed_newest_first(places: Places) -> None:
    for _ in range(3):
        add_receipt(receipt(occasion()), places)
    found = list_receipts(KEY, places)
    assert [one.receipt_id for one in found.receipts] == ["0003", "0002", "0001"]
    assert found.problems == ()


def test_a_change_is_marked(places: Places) -> None:
    added = add_receipt(receipt(occasion()), places)
    mark(KEY, added.receipt_id, "done", places, backup="s.jsonl.bak")
    mark(KEY, "0099", "done", places)
    (one,) = list_receipts(KEY, places).receipts
    assert (one.state, one.backup) == ("done", "s.jsonl.bak")


def test_a_damaged_receipt_is_moved_aside_and_its_number_not_used_again(places: Places) -> None:
    folder = receipts_folder(KEY, places)
    add_receipt(receipt(occasion()), places)
    (folder / "0001.json").write_bytes(b"{torn")
    found = list_receipts(KEY, places)
    assert found.receipts == ()
    assert "0001.json.corrupt-1" in found.problems[0]
    assert (folder / "0001.json.corrupt-1").read_bytes() == b"{torn"
    assert add_receipt(receipt(occasion()), places).receipt_id == "0002"


def test_a_receipt_of_a_newer_version_is_kept_and_not_changed(places: Places) -> None:
    folder = receipts_folder(KEY, places)
    add_receipt(receipt(occasion()), places)
    newer = b'{"version": 2, "anything": []}\n'
    (folder / "0001.json").write_bytes(newer)
    found = list_receipts(KEY, places)
    assert found.receipts == ()
    assert "newer Ullage" in found.problems[0]
    mark(KEY, "0001", "undone", places)
    assert (folder / "0001.json").read_bytes() == newer


@pytest.mark.parametrize(
    ("n_written", "is_old", "n_kept"),
    [(25, True, KEPT_RECEIPTS), (25, False, 25), (5, True, 5)],
    ids=["old and many", "many", "old"],
)
def test_only_receipts_that_are_old_and_many_go(
    places: Places, n_written: int, is_old: bool, n_kept: int
) -> None:
    folder = receipts_folder(KEY, places)
    for _ in range(n_written):
        added = add_receipt(receipt(occasion()), places)
        then = time.time() - OLD_S * is_old
        os.utime(folder / f"{added.receipt_id}.json", (then, then))
    foreign = folder / "0000-of-the-user.jsonl"
    foreign.write_bytes(b"kept")
    os.utime(foreign, (1, 1))
    add_receipt(receipt(occasion()), places)
    assert len(list_receipts(KEY, places).receipts) in (n_kept, n_kept + 1)
    assert list_receipts(KEY, places).receipts[0].receipt_id == f"{n_written + 1:04}"
    assert foreign.exists()


def test_sessions_that_share_a_folder_do_not_share_receipts(places: Places) -> None:
    add_receipt(receipt(occasion()), places)
    other = receipts_folder("other", places)
    receipts_folder(KEY, places).rename(other)
    assert list_receipts("other", places).receipts == ()


def test_a_folder_of_an_earlier_version_is_still_used(places: Places) -> None:
    parent = places.state_folder / "context" / "checkpoints"
    assert session_folder("checkpoints", "Work", places) == parent / folder_name("Work")
    (parent / earlier_folder_name("Work")).mkdir(parents=True)
    assert session_folder("checkpoints", "Work", places) == parent / "Work"
    assert session_folder("checkpoints", "wORK", places) == parent / folder_name("wORK")
