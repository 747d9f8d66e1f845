"""What the sessions of the workspace used, day by day: the figures of a page with bars."""

import asyncio
from datetime import date

from ullage.app.gauge.usage import (
    HEADS,
    UsageReport,
    day_cells,
    empty_text,
    note_lines,
    report_usage,
    total_cells,
)
from ullage.lsp import protocol
from ullage.lsp.state import UllageServer


async def run_usage(ls: UllageServer, argument: protocol.SessionArgument) -> protocol.UsageResult:
    """Read what was used in all folders of the workspace, whichever session is meant."""
    del argument
    folders = ls.workspace_folders()
    return _result(await asyncio.to_thread(report_usage, folders, ls.places, today=date.today()))


def _result(report: UsageReport) -> protocol.UsageResult:
    folders = ", ".join(report.folders)
    return protocol.UsageResult(
        title=f"{folders}, since {report.since}" if report.days else empty_text(report),
        heads=list(HEADS),
        days=[
            protocol.UsageDay(nSent=day.spent.sent_tokens, cells=list(day_cells(day)))
            for day in report.days
        ],
        total=list(total_cells(report)),
        notes=[line for line in note_lines(report) if line],
    )
