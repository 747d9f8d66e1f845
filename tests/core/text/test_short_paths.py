"""Paths are shown below the folder that is worked in, or below the home folder."""

import pytest

from ullage.core.text.short_paths import Label, cut_left, shorten_paths


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Read /home/ann/shop/src/a.py", "Read src/a.py"),
        ("Read /home/ann/shopping/a.py", "Read ~/shopping/a.py"),
        ("cat /home/ann/a.py /home/ann/shop/b.py", "cat ~/a.py b.py"),
        ("/mnt/home/ann/a.py", "/mnt/home/ann/a.py"),
        ("cd /home/ann/shop && ls /home/ann", "cd . && ls ~"),
    ],
)
def test_a_path_is_told_from_where_its_reader_is(text: str, short: str) -> None:
    assert shorten_paths(text, "/home/ann/shop", "/home/ann") == short


def test_windows_paths_too_and_a_root_shortens_nothing() -> None:
    assert shorten_paths(r"C:\Users\ann\a.py", None, r"C:\Users\ann") == r"~\a.py"
    assert shorten_paths("/etc/hosts", "/", "/root") == "/etc/hosts"


def test_a_path_is_cut_from_its_left() -> None:
    assert cut_left("src/cart.py", 11) == "src/cart.py"
    assert cut_left("checkout/src/cart.py", 11) == "…rc/cart.py"


@pytest.mark.parametrize(
    ("label", "n_chars", "text"),
    [
        (Label("src/shop/cart.py", is_path=True, tool="Read"), 18, "Read …shop/cart.py"),
        (Label("src/cart.py", is_path=True, tool="Read"), 3, "Read …y"),
        (Label("npm run build --all", tool="Bash"), 19, "Bash npm run…"),
        (Label("", tool="Bash"), 19, "Bash"),
        (Label("2 images"), 19, "2 images"),
    ],
)
def test_a_label_keeps_its_tool_and_what_tells_most(label: Label, n_chars: int, text: str) -> None:
    assert label.cut(n_chars) == text
