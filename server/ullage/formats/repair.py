"""A repaired copy of a transcript, by selection of its lines.

A line that is kept keeps its bytes, but for the fields that say whom it follows and of which
session it is. Nothing is guessed: what cannot be read goes, and is counted.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.doctor import PairFault, pair_faults
from ullage.core.transcript.entries import Header, JsonObject, Line, Lines, MemoryLines
from ullage.core.transcript.lineage import EMPTY_INDEX, Node, reconnect_nodes
from ullage.formats.agent_info import AgentInfo
from ullage.formats.doctor import LinePiece, RecordRules, read_pieces, with_field
from ullage.formats.json_line import bytes_of, text_of, write_line

MAX_ROUNDS = 8
"""One round mends all pairs; a record that goes with a pair may leave another open (chosen)."""


class CopyIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Who the copy is."""

    session_id: str
    cwd: str
    """For a header that must be replaced."""
    timestamp: str


class RepairResult(msgspec.Struct, frozen=True, kw_only=True):
    data: bytes
    n_kept: int
    """Records as they were, but for the session's id."""
    n_changed: int
    """Records that follow another one now, or have another id."""
    n_dropped: int
    """Lines that could not be read, records that repeat, and results without a call."""
    n_added: int
    """Headers, and results of calls that had none."""


def repair(
    lines: Lines, header: Header, info: AgentInfo, records: RecordRules, identity: CopyIdentity
) -> RepairResult:
    """Make the copy; whether it is whole now is for the reader of it to tell.

    Raises:
        Refused: a record is too long to be copied.
    """
    copy = _Copy(lines, records, identity)
    copy.drop_useless()
    copy.put_header_first()
    copy.tell_apart()
    copy.reconnect()
    for _ in range(MAX_ROUNDS if records.mends_pairs else 0):
        items = info.read_context(MemoryLines(copy.data()), header, EMPTY_INDEX).context.items
        faults = [f for f in pair_faults(items, records.is_answer_sent) if f.code != "open-call"]
        if not faults:
            break
        copy.mend_pairs(faults, items)
    return copy.repaired()


class _Record:
    """A line of the copy, as it becomes."""

    def __init__(self, piece: LinePiece) -> None:
        self.line = piece.line
        self.raw = bytes_of(Line(piece.offset, piece.raw))
        self.native: JsonObject = piece.native or {}
        self.is_blank = piece.native is None
        self.is_added = False
        self.is_changed = False
        self.is_dropped = False
        self.answers: list[_Record] = []
        """Results that were made for its calls."""


class _Copy:
    def __init__(self, lines: Lines, records: RecordRules, identity: CopyIdentity) -> None:
        self._rules = records
        self._identity = identity
        self._records = [_Record(piece) for piece in read_pieces(lines, records)]
        self._used_ids: set[str] = set()

    def data(self) -> bytes:
        return b"".join(record.raw for record in self._live())

    def repaired(self) -> RepairResult:
        live = [record for record in self._live() if not record.is_blank]
        n_added = sum(record.is_added for record in live)
        n_changed = sum(record.is_changed and not record.is_added for record in live)
        return RepairResult(
            data=self.data(),
            n_kept=len(live) - n_added - n_changed,
            n_changed=n_changed,
            n_dropped=sum(record.is_dropped for record in self._records),
            n_added=n_added,
        )

    def drop_useless(self) -> None:
        """Drop what cannot be read or used; what followed it follows what it followed."""
        heirs: dict[str, str | None] = {}
        for record in self._records:
            if record.is_blank:
                record.is_dropped = not record.raw
            elif self._rules.find_fault(record.native) is not None:
                record.is_dropped = True
                node = self._rules.node(record.native)
                if node is not None:
                    heirs[node.entry_id] = node.parent_id
        for record, node in self._nodes():
            parent_id = node.parent_id
            visited: set[str | None] = set()
            while parent_id in heirs and parent_id not in visited:
                visited.add(parent_id)
                parent_id = heirs[parent_id]
            self._set_parent(record, node, parent_id)

    def put_header_first(self) -> None:
        rules, identity = self._rules, self._identity
        live = [record for record in self._live() if not record.is_blank]
        made = rules.make_header(identity.session_id, identity.cwd, identity.timestamp)
        if made is not None and not (live and rules.is_header(live[0].native)):
            first = next((record for record in live if rules.is_header(record.native)), None)
            if first is None:
                first = _made(made)
            else:
                self._records.remove(first)
            self._records.insert(0, first)
        for record in self._live():
            keys = () if record.is_blank else rules.session_id_field(record.native)
            if keys:
                self._set(record, keys, identity.session_id, is_change=False)

    def tell_apart(self) -> None:
        """Drop records that repeat, and give another id to one that only has another's."""
        first_of: dict[str, bytes] = {}
        ids: dict[str, str] = {}
        for record, node in self._nodes():
            parent_id = None if node.parent_id is None else ids.get(node.parent_id, node.parent_id)
            if first_of.get(node.entry_id) == record.raw.strip():
                record.is_dropped = True
                continue
            self._set_parent(record, node, parent_id)
            if node.entry_id in first_of:
                ids[node.entry_id] = self._fresh_id(record.raw)
                self._set(record, (self._rules.id_field,), ids[node.entry_id])
            else:
                first_of[node.entry_id] = record.raw.strip()
                self._used_ids.add(node.entry_id)

    def reconnect(self) -> None:
        linked = self._nodes()
        nodes = reconnect_nodes([node for _, node in linked])
        for (record, before), after in zip(linked, nodes, strict=True):
            self._set_parent(record, before, after.parent_id)

    def mend_pairs(self, faults: list[PairFault], items: tuple[ContextItem, ...]) -> None:
        """Take out results without a call, and answer calls that have no result."""
        tree = _Tree(self._nodes(), self._rules.is_compaction)
        for fault in faults:
            entry_id = items[fault.at].entry_id
            record = tree.records.get(entry_id)
            if record is None:
                continue
            if fault.code == "orphaned-result":
                self._take_out(record, entry_id, fault.call_id, tree)
            else:
                self._answer(record, entry_id, fault, tree)

    def _take_out(self, record: _Record, entry_id: str, call_id: str, tree: "_Tree") -> None:
        rest = self._rules.drop_result(record.native, call_id)
        if rest is not None:
            _replace(record, rest)
            return
        record.is_dropped = True
        node = self._rules.node(record.native)
        parent_id = None if node is None else node.parent_id
        children = tree.children.pop(entry_id, [])
        for child in children:
            self._set(child, (self._rules.parent_field,), parent_id)
        if parent_id is not None:
            tree.children[parent_id] += children
        heir = self._rules.node(children[0].native) if children else None
        for compaction in tree.compactions if heir is not None else ():
            if text_of(compaction.native, self._rules.kept_field) == entry_id and heir is not None:
                self._set(compaction, (self._rules.kept_field,), heir.entry_id)

    def _answer(self, record: _Record, entry_id: str, fault: PairFault, tree: "_Tree") -> None:
        rules = self._rules
        new_id = self._fresh_id(record.raw + fault.call_id.encode("utf-8", "surrogatepass"))
        native = rules.make_result(record.native, fault.call_id, fault.name, new_id)
        if native is None:
            return
        for child in tree.children.pop(entry_id, []):
            if rules.follows_same_answer(record.native, child.native):
                tree.children[entry_id].append(child)
            else:
                self._set(child, (rules.parent_field,), new_id)
                tree.children[new_id].append(child)
        answer = _made(native)
        record.answers.insert(0, answer)
        tree.children[entry_id].append(answer)
        for compaction in tree.compactions:
            kept = rules.keep_result(compaction.native, entry_id, new_id)
            if kept is not None:
                _replace(compaction, kept)

    def _live(self) -> list[_Record]:
        """List the lines of the copy, each call's answers behind it."""
        return [
            member
            for record in self._records
            for member in (record, *record.answers)
            if not member.is_dropped
        ]

    def _nodes(self) -> list[tuple[_Record, Node]]:
        if not self._rules.id_field:
            return []
        pairs = ((r, self._rules.node(r.native)) for r in self._live() if not r.is_blank)
        return [(record, node) for record, node in pairs if node is not None]

    def _set_parent(self, record: _Record, node: Node, parent_id: str | None) -> None:
        if parent_id != node.parent_id:
            self._set(record, (self._rules.parent_field,), parent_id)

    def _set(
        self, record: _Record, keys: tuple[str, ...], value: str | None, *, is_change: bool = True
    ) -> None:
        record.raw, record.native = with_field(record.raw, record.native, keys, value)
        record.is_changed = record.is_changed or is_change

    def _fresh_id(self, data: bytes) -> str:
        """Make an id that no other record has; the same for the same transcript."""
        while True:
            data = hashlib.sha256(data).digest()
            entry_id = self._rules.fresh_id(data.hex())
            if entry_id not in self._used_ids:
                self._used_ids.add(entry_id)
                return entry_id


class _Tree:
    """Who follows whom, kept up to date while pairs are mended."""

    def __init__(
        self,
        nodes: list[tuple[_Record, Node]],
        is_compaction: Callable[[JsonObject], bool],
    ) -> None:
        self.records = {node.entry_id: record for record, node in nodes}
        self.compactions = [member for member, _ in nodes if is_compaction(member.native)]
        self.children: defaultdict[str, list[_Record]] = defaultdict(list)
        for record, node in nodes:
            if node.parent_id is not None:
                self.children[node.parent_id].append(record)


def _replace(record: _Record, native: JsonObject) -> None:
    record.native, record.raw, record.is_changed = native, write_line(native), True


def _made(native: JsonObject) -> _Record:
    piece = LinePiece(line=0, offset=0, raw=write_line(native), native=native)
    record = _Record(piece)
    record.is_added = True
    return record
