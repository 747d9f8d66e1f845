"""JSON Schemas of what is answered as JSON, and of checkpoints; `data/schemas` holds them."""

import msgspec

from ullage.app.change.auto import AutoReport
from ullage.app.change.checkpoint_report import (
    DiffReport,
    ListReport,
    RestoreReport,
    ShowReport,
    WriteReport,
)
from ullage.app.change.compact_report import CompactReport
from ullage.app.change.prune_report import PruneReport
from ullage.app.change.undo_report import UndoReport
from ullage.app.config.report import CheckReport, ConfigReport
from ullage.app.gauge.history import HistoryReport
from ullage.app.gauge.inspect import InspectReport
from ullage.app.gauge.session_list import SessionsReport
from ullage.app.gauge.status_report import ContextReport, StatusReport
from ullage.app.memory.report import MemoryReport
from ullage.app.summary.pins import PinsReport
from ullage.app.transfer.branch import BranchReport
from ullage.app.transfer.bundle_export import ExportReport
from ullage.app.transfer.bundle_import import ImportReport
from ullage.app.transfer.doctor import DoctorReport
from ullage.core.checkpoint.bundle import Bundle
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.transcript.message import JsonObject

REPORTS: tuple[tuple[str, type[msgspec.Struct]], ...] = (
    ("sessions", SessionsReport),
    ("context-status", StatusReport),
    ("context-show", ContextReport),
    ("context-inspect", InspectReport),
    ("context-history", HistoryReport),
    ("context-export", ExportReport),
    ("context-import", ImportReport),
    ("context-branch", BranchReport),
    ("bundle", Bundle),
    ("compact", CompactReport),
    ("memory-flush", MemoryReport),
    ("prune", PruneReport),
    ("undo", UndoReport),
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

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(report: type[msgspec.Struct]) -> JsonObject:
    """Give the schema of a report: draft 2020-12, texts of the docstrings included."""
    schema = msgspec.json.schema(report, schema_hook=anything)
    return {"$schema": DIALECT, **schema}


def anything(of: type) -> JsonObject:
    """Let what is in an agent's own shape be anything."""
    if of is object:
        return {"description": "Any JSON value."}
    raise NotImplementedError
