"""Examine a transcript of any agent: every line, who follows whom, calls and their results."""

from collections.abc import Iterable

import msgspec

from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.doctor import TranscriptFinding, finding, pair_faults
from ullage.core.transcript.entries import Header, Lines
from ullage.core.transcript.lineage import EMPTY_INDEX, Node, find_lineage_faults, path_of
from ullage.formats.agent_info import AgentInfo
from ullage.formats.doctor import LinePiece, RecordRules, read_pieces


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    findings: tuple[TranscriptFinding, ...]
    """In the order of the lines."""
    n_lines: int
    n_records: int

    @property
    def has_errors(self) -> bool:
        return any(entry.severity == "error" for entry in self.findings)


class _Place(msgspec.Struct, frozen=True):
    line: int
    offset: int


def examine(
    lines: Lines, header: Header | None, info: AgentInfo, records: RecordRules | None
) -> Examination:
    """Read a transcript whole; without its records' rules, lines and pairs alone are judged."""
    notes = _Notes(records)
    for piece in read_pieces(lines, records):
        notes.add(piece)
    if header is None:
        notes.add_unknown()
    else:
        context = info.read_context(lines, header, EMPTY_INDEX).context
        notes.add_pairs(context)
        notes.add_kept(context)
    notes.add_lineage()
    order = sorted(notes.findings, key=lambda entry: (entry.line or 0, entry.code))
    return Examination(findings=tuple(order), n_lines=notes.n_lines, n_records=notes.n_records)


def _always(_: ContextItem) -> bool:
    return True


class _Notes:
    """What is found on the way; of the records only their places are held."""

    def __init__(self, records: RecordRules | None) -> None:
        self.findings: list[TranscriptFinding] = []
        self.n_lines = 0
        self.n_records = 0
        self._records = records
        self._nodes: list[Node] = []
        self._places: list[_Place] = []
        self._place_of: dict[str, _Place] = {}

    def add(self, piece: LinePiece) -> None:
        records = self._records
        place = _Place(piece.line, piece.offset)
        self.n_lines = piece.line
        self._note(piece.codes, place)
        if piece.native is None:
            return
        self.n_records += 1
        if records is None:
            return
        if self.n_records == 1 and not records.is_header(piece.native):
            self._note(("header-missing",), place)
        fault = records.find_fault(piece.native)
        if fault is not None:
            self._note(("wrong-field",), place, detail=fault)
            return
        node = records.node(piece.native)
        if node is not None:
            self._nodes.append(node)
            self._places.append(place)
            self._place_of[node.entry_id] = place
        elif not records.id_field:
            self._place_of[f"{place.offset:08x}"] = place

    def add_unknown(self) -> None:
        """Note that no agent takes the file for a session, unless its missing header says so."""
        if all(entry.code != "header-missing" for entry in self.findings):
            self._note(("unknown-session",), None)

    def add_lineage(self) -> None:
        for fault in find_lineage_faults(self._nodes):
            entry_id = self._nodes[fault.at].entry_id
            self._note((fault.code,), self._places[fault.at], entry_id=entry_id)

    def add_pairs(self, context: Context) -> None:
        records = self._records
        is_sent = _always if records is None else records.is_answer_sent
        for fault in pair_faults(context.items, is_sent):
            entry_id = context.items[fault.at].entry_id
            place = self._place_of.get(entry_id)
            self._note((fault.code,), place, entry_id=entry_id, detail=fault.name)
            is_mended = records is None or not records.mends_pairs
            if is_mended and self.findings[-1].severity == "error":
                # The agent corrects it itself when it reads the session.
                self.findings[-1] = msgspec.structs.replace(self.findings[-1], severity="warning")

    def add_kept(self, context: Context) -> None:
        boundary = context.boundary
        if boundary is None or self._records is None or not self._records.kept_field:
            return
        path = {self._nodes[at].entry_id for at in path_of(self._nodes)}
        if boundary.first_kept_id is not None and boundary.first_kept_id not in path:
            place = self._place_of.get(boundary.entry_id)
            self._note(("missing-first-kept",), place, entry_id=boundary.entry_id)

    def _note(
        self,
        codes: Iterable[str],
        place: _Place | None,
        *,
        entry_id: str | None = None,
        detail: str = "",
    ) -> None:
        self.findings += [
            finding(
                code,
                line=None if place is None else place.line,
                offset=None if place is None else place.offset,
                entry_id=entry_id,
                detail=detail,
            )
            for code in codes
        ]
