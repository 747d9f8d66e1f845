"""Labels of recorded sessions, which hold no word of theirs.

    python benchmarks/summaries/label.py IN OUT SESSIONS [--sources TABLE] [--texts]

turns what a labeller wrote (a JSON file a session, each item with verbatim quotes and their lines)
into files that say only where each quote stands. A quote that is not on its line is refused by
name, and its session gets no file. `--texts` keeps the words, for sessions that are our own.

A quote is `line` (from 1), `start` and `length` in characters of `line_text`: the string values of
the line's JSON in document order, joined by line feeds; behind a string that holds a JSON object or
array itself come the strings of that one.
"""

import argparse
import gzip
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

KINDS = {
    "decisions": "decision",
    "constraints": "constraint",
    "constraints_pasted": "constraint",
    "open_items": "open",
    "closed_items": "closed",
    "errors_cured": "error",
    "replaced": "replaced",
}
"""Lists of a labeller's file, and what their items are."""
_UNWANTED = frozenset(("constraints_pasted",))
"""Right where they are shown, and missed by nobody."""


class Quote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    line: int
    start: int
    length: int
    text: str = ""
    """For a person who reads the file; what is judged is read from the session."""


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    kind: str
    """One of `KINDS`, `topic` or `next`."""
    by: str = ""
    wanted: bool = True
    """False for what is right if shown, and may be left out."""
    what: str = ""
    quotes: tuple[Quote, ...] = ()
    """Each says the same thing, the best first; of `replaced`, the earlier and the later one."""


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a recorded session is found: what its labeller wrote of it."""

    repository: str = ""
    path: str = ""
    lines: str = ""


class Labels(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    session: str
    sha256: str
    """Of the bytes that were labelled."""
    source: Source | None = None
    ends: str = ""
    items: tuple[Item, ...] = ()


class LabelledLines:
    """The lines of a session as their labels count them."""

    def __init__(self, path: Path) -> None:
        raw = read_session(path)
        self.sha256 = hashlib.sha256(raw).hexdigest()
        self._lines = raw.split(b"\n")
        self._texts: dict[int, str] = {}

    def text(self, line: int) -> str:
        """Give the text of a line; empty where there is none or it is no JSON."""
        if line not in self._texts:
            raw = self._lines[line - 1] if 0 < line <= len(self._lines) else b""
            self._texts[line] = line_text(raw)
        return self._texts[line]

    def quote(self, quote: Quote) -> str:
        return self.text(quote.line)[quote.start : quote.start + quote.length]

    def whole_text(self) -> str:
        return "\n".join(self.text(line) for line in range(1, len(self._lines) + 1))


def read_session(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def line_text(raw: bytes) -> str:
    try:
        return "\n".join(_strings(json.loads(raw)))
    except ValueError:
        return ""


def session_name(path: Path) -> str:
    return path.name.split(".", 1)[0]


def list_sessions(folders: Iterable[Path]) -> dict[str, Path]:
    """Give the sessions of folders by name; a single file stands for itself."""
    files = [
        file
        for folder in folders
        for file in (sorted(folder.glob("*.jsonl*")) if folder.is_dir() else [folder])
    ]
    return {session_name(file): file for file in files}


def read_labels(path: Path) -> Labels:
    return msgspec.json.decode(path.read_bytes(), type=Labels)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("labels", type=Path, metavar="IN", help="the labellers' files")
    parser.add_argument("out", type=Path, metavar="OUT", help="folder of the files to write")
    parser.add_argument("sessions", type=Path, metavar="SESSIONS")
    parser.add_argument("--sources", type=Path, action="append", default=[], help="Markdown table")
    parser.add_argument("--texts", action="store_true", help="keep the words")
    options = parser.parse_args()
    sources = dict(_read_sources(options.sources))
    sessions = list_sessions([options.sessions])
    options.out.mkdir(parents=True, exist_ok=True)
    n_refused = 0
    for file in sorted(options.labels.glob("*.json")):
        name = session_name(file)
        if name not in sessions:
            print(f"{name}: no such session")
            n_refused += 1
            continue
        lines = LabelledLines(sessions[name])
        written = json.loads(file.read_text(encoding="utf-8"))
        items, refused = _convert(written, lines, with_texts=options.texts)
        for reason in refused:
            print(f"{name}: {reason}")
        n_refused += len(refused)
        if not refused:
            labels = Labels(
                session=name,
                sha256=lines.sha256,
                source=sources.get(name),
                ends=written.get("ends", ""),
                items=tuple(items),
            )
            (options.out / f"{name}.json").write_text(_dump(labels), encoding="utf-8", newline="\n")
            print(f"{name}: {len(items)} items")
    sys.exit(1 if n_refused else 0)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                yield from _strings(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _convert(
    written: Mapping[str, object], lines: LabelledLines, *, with_texts: bool
) -> tuple[list[Item], list[str]]:
    items: list[Item] = []
    refused: list[str] = []
    for kind, list_name, label in _list_written(written):
        quotes: list[Quote] = []
        for line, text in _list_quotes(label):
            place = _find(text, lines.text(line))
            if place is None:
                refused.append(f"{list_name}: not on line {line}: {text[:60]!r}")
            else:
                shown = lines.text(line)[slice(*place)] if with_texts else ""
                quotes.append(
                    Quote(line=line, start=place[0], length=place[1] - place[0], text=shown)
                )
        items.append(
            Item(
                kind=kind,
                by=str(label.get("by") or "").split(" ")[0],
                wanted=bool(label.get("wanted", list_name not in _UNWANTED)),
                what=str(label.get("what") or "") if with_texts else "",
                quotes=tuple(quotes),
            )
        )
    return items, refused


def _list_written(
    written: Mapping[str, object],
) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """List the labels of a file with what they are and the name of their list."""
    for list_name, kind in (("topic", "topic"), ("next_step", "next")):
        label = written.get(list_name)
        if isinstance(label, dict):
            yield kind, list_name, label
        elif label and list_name == "next_step":
            # In words alone: there is no next step.
            yield kind, list_name, {"what": label}
    for list_name, kind in KINDS.items():
        for label in written.get(list_name) or ():
            yield kind, list_name, label


def _list_quotes(label: Mapping[str, object]) -> Iterator[tuple[int, str]]:
    """List the quotes of a label, whichever way it holds them."""
    also = label.get("also") or ()
    for holder in (label, *(label.get("quotes") or ()), *also):
        for text_field, line_field in (("text", "line"), ("quote", "line"), ("by_text", "by_line")):
            if holder.get(text_field):
                yield int(holder.get(line_field) or 0), str(holder[text_field])


def _find(text: str, line: str) -> tuple[int, int] | None:
    """Find where a quote stands, whatever the blanks between its words are."""
    words = text.split()
    match = re.search(r"\s+".join(map(re.escape, words)), line) if words else None
    return match.span() if match else None


def _read_sources(tables: Sequence[Path]) -> Iterator[tuple[str, Source]]:
    """Read rows `| name | repository @ commit | path | lines kept | … |`."""
    for table in tables:
        for row in table.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip(" `") for cell in row.strip().strip("|").split("|")]
            if len(cells) >= 4 and not set(cells[0]) <= set("-: "):
                name = session_name(Path(cells[0]))
                yield name, Source(repository=cells[1], path=cells[2], lines=cells[3])


def _dump(labels: Labels) -> str:
    """Write labels as JSON with a line for each item."""
    head = json.dumps(
        msgspec.to_builtins(msgspec.structs.replace(labels, items=())), ensure_ascii=False, indent=1
    )
    items = ",\n  ".join(
        json.dumps(msgspec.to_builtins(item), ensure_ascii=False) for item in labels.items
    )
    return f'{head.removesuffix("}").rstrip()},\n "items": [\n  {items}\n ]\n}}\n'


if __name__ == "__main__":
    main()
