"""Only the modules that are made for it write files; everywhere else a write is a fault."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "server" / "ullage"
FORBIDDEN = {
    "write_text", "write_bytes", "splitlines", "copy", "copy2", "copyfile", "copytree", "move",
    "rename", "renames", "replace", "truncate", "ftruncate", "extractall",
}  # fmt: skip
WRITERS = {
    "store/files/atomic.py": "writes files whole",
    "cli/main.py": "opens nothing at all in the place of a missing stream",
    "store/change/new_session.py": "moves a session of ours out of sight",
    "store/change/own_bytes.py": "takes our own bytes back",
    "store/change/make.py": "appends under the lock, and takes back",
    "store/files/quick_state.py": "lays a tool call down whole, for a hook without time",
    "store/files/quick_lock.py": "makes the empty file that a lock is on",
    "store/memory/daily_log.py": "appends to the user's daily log",
    "store/memory/journal.py": "appends to the journal of memory under its lock",
    "store/files/state_file.py": "moves damaged state aside",
    "core/summary/model_output.py": "splits a model's Markdown, no file, into lines",
    "store/files/demo.py": "unpacks the demonstration into a temporary folder that goes away",
}
_MODULES = ("os", "shutil")
_METHODS = {"write_text", "write_bytes", "splitlines", "extractall", "rename"}


def faults(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name, owner = _name(node.func)
        if name in _METHODS or (owner in _MODULES and name in FORBIDDEN):
            yield f"line {node.lineno}: {name}"
        if name == "replace" and len(node.args) == 1 and not node.keywords:
            yield f"line {node.lineno}: Path.replace"
        if name.lstrip("_") in ("open", "fdopen", "open_unlinked") and _writes(node):
            yield f"line {node.lineno}: open to write"


def _name(function: ast.expr) -> tuple[str, str]:
    match function:
        case ast.Attribute(attr=name, value=ast.Name(id=owner)):
            return name, owner
        case ast.Attribute(attr=name):
            return name, ""
        case ast.Name(id=name):
            return name, ""
    return "", ""


def _writes(call: ast.Call) -> bool:
    texts = [
        one.value
        for one in (*call.args, *(keyword.value for keyword in call.keywords))
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    modes = [one for one in texts if len(one) <= 3 and set(one) <= set("rwaxbt+")]
    flags = {one.attr for one in ast.walk(call) if isinstance(one, ast.Attribute)}
    return any(set(one) & set("wax+") for one in modes) or bool(
        flags & {"O_WRONLY", "O_RDWR", "O_APPEND", "O_CREAT"}
    )


def test_only_writers_write() -> None:
    found = {
        str(path.relative_to(PACKAGE).as_posix()): list(faults(path.read_text("utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    others = {name: lines for name, lines in found.items() if lines and name not in WRITERS}
    # The protocol's stream is no file.
    del others["store/files/processes.py"]
    assert others == {}
    assert [name for name in WRITERS if not found.get(name)] == []


def test_each_way_to_write_is_found() -> None:
    for line in (
        "path.open('a')", "open(path, 'w')", "open(path, mode='r+')", "path.write_text('')",
        "path.write_bytes(b'')", "shutil.copyfile(a, b)", "os.rename(a, b)", "os.replace(a, b)",
        "path.rename(other)", "path.replace(other)", "text.splitlines()", "os.open(p, os.O_WRONLY)",
        "os.truncate(p, 3)", "os.fdopen(1, 'wb')",
    ):  # fmt: skip
        assert list(faults(line)), line
    for line in (
        "path.open('rb')",
        "open(path)",
        "text.replace('a', 'b')",
        "os.open(p, os.O_RDONLY)",
    ):
        assert not list(faults(line)), line
