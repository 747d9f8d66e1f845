"""Write the JSON Schemas of all outputs and data files; a test compares them with the code."""

import json
from pathlib import Path

import msgspec

from ullage.agent.protocol import METHODS
from ullage.agent.wire import Method, Wire
from ullage.app.assembly.assemble import AssembledRequest
from ullage.app.change.auto import AutoReport
from ullage.app.change.checkpoint_report import (
    DiffReport,
    ListReport,
    RestoreReport,
    ShowReport,
    WriteReport,
)
from ullage.app.change.compact_report import CompactReport
from ullage.app.change.prune import PruneReport
from ullage.app.change.undo import UndoReport
from ullage.app.config.report import CheckReport, ConfigReport
from ullage.app.dream.report import BackfillReport, DreamReport, InboxReport
from ullage.app.gauge.history import HistoryReport
from ullage.app.gauge.inspect import InspectReport
from ullage.app.gauge.session_list import SessionsReport
from ullage.app.gauge.status_report import ContextReport, StatusReport
from ullage.app.gauge.usage import UsageReport
from ullage.app.memory.get import MemoryLines
from ullage.app.memory.origins import ChangesReport
from ullage.app.memory.report import MemoryReport
from ullage.app.memory.status import MemoryStatus
from ullage.app.memory.store import StoredItem
from ullage.app.summary.pins import PinsReport
from ullage.app.transfer.branch import BranchReport
from ullage.app.transfer.bundle import ExportReport, ImportReport
from ullage.app.transfer.doctor import DoctorReport
from ullage.core.checkpoint.bundle import Bundle
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.memory.answer import MemoryAnswer
from ullage.core.secrets.rules import RuleFile
from ullage.core.text.word_lists import Language
from ullage.store.gauge.tokenizer import EncodingRow

FOLDER = Path(__file__).parent.parent / "server/ullage/data/schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
REPORTS: tuple[tuple[str, type[msgspec.Struct]], ...] = (
    ("sessions", SessionsReport),
    ("usage", UsageReport),
    ("context-status", StatusReport),
    ("context-show", ContextReport),
    ("context-inspect", InspectReport),
    ("context-assemble", AssembledRequest),
    ("context-history", HistoryReport),
    ("context-export", ExportReport),
    ("context-import", ImportReport),
    ("context-branch", BranchReport),
    ("bundle", Bundle),
    ("compact", CompactReport),
    ("memory-flush", MemoryReport),
    ("memory-search", MemoryAnswer),
    ("memory-get", MemoryLines),
    ("memory-store", StoredItem),
    ("memory-status", MemoryStatus),
    ("memory-changes", ChangesReport),
    ("memory-reindex", MemoryStatus),
    ("memory-dream", DreamReport),
    ("memory-review-list", InboxReport),
    ("memory-backfill", BackfillReport),
    ("prune", PruneReport),
    ("undo", UndoReport),
    ("redo", UndoReport),
    ("autocompact-status", AutoReport),
    ("pin-list", PinsReport),
    ("checkpoint", Checkpoint),
    ("checkpoint-write", WriteReport),
    ("checkpoint-list", ListReport),
    ("checkpoint-show", ShowReport),
    ("checkpoint-diff", DiffReport),
    ("checkpoint-restore", RestoreReport),
    ("config-show", ConfigReport),
    ("config-check", CheckReport),
    ("doctor", DoctorReport),
)
DATA_FILES = (
    ("words", Language),
    ("secret-rules", RuleFile),
    ("encodings", tuple[EncodingRow, ...]),
)


def schemas() -> dict[str, dict[str, object]]:
    """Give the schema of each report, data file and method of `ullage agent`, by its file's name."""
    reports = {f"{name}.schema.json": schema_of(shape) for name, shape in (*REPORTS, *DATA_FILES)}
    methods = {
        f"agent/{method.name.replace('/', '-')}.schema.json": schema_of_method(method)
        for method in METHODS
    }
    return reports | methods


def schema_of(shape: object) -> dict[str, object]:
    """Give the schema of a report or a data file: draft 2020-12, texts of the docstrings included."""
    return {"$schema": DIALECT, **msgspec.json.schema(shape, schema_hook=anything)}


def schema_of_method(method: Method[Wire, Wire]) -> dict[str, object]:
    """Give the schema of a method: its params and its result."""
    (params, result), parts = msgspec.json.schema_components(
        (method.params, method.result), schema_hook=anything, ref_template="#/$defs/{name}"
    )
    return {
        "$schema": DIALECT,
        "title": method.name,
        "type": "object",
        "properties": {"params": params, "result": result},
        "$defs": parts,
    }


def anything(of: type) -> dict[str, object]:
    """Let what is in an agent's own shape be anything."""
    if of is object:
        return {"description": "Any JSON value."}
    raise NotImplementedError


if __name__ == "__main__":
    (FOLDER / "agent").mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=2, ensure_ascii=False)
        (FOLDER / name).write_text(f"{text}\n", encoding="utf-8")
