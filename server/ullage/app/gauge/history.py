"""The compactions of a session, and what they cost it."""

import msgspec

from ullage.app.gauge.status_report import LossReport, report_loss
from ullage.app.gauge.status_text import RULE
from ullage.app.sessions.load import read
from ullage.app.sessions.secrets import secrets_for
from ullage.app.sessions.session import Session
from ullage.core.gauge.degradation import Degradation, evaluate, is_death_spiral
from ullage.core.gauge.loss import noted_loss, summed_loss
from ullage.core.gauge.status import rfc3339
from ullage.core.secrets.scan import mask
from ullage.core.transcript.context import Compaction
from ullage.store.files.places import Places


class CompactionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One compaction; what its writer did not note is null."""

    id: str
    at: str | None
    trigger: str | None
    layer: str | None
    tokens_before: int | None
    tokens_after: int | None
    ratio: float | None
    """Tokens before by tokens after."""
    n_messages: int | None
    measured: LossReport | None
    """What the audit of its summary found, where its writer made one."""
    summary: str


class HistoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage context history --json`."""

    session_id: str
    path: str
    compactions: list[CompactionReport]
    """Oldest first."""
    degradation: Degradation
    """An estimate by the number of compactions alone."""
    measured: LossReport | None
    """The compactions that were measured, added up."""
    n_measured: int
    is_death_spiral: bool
    """More than three compactions: each works on the summary of the one before."""


def history(session: Session, places: Places) -> HistoryReport:
    """Read every compaction on the active path."""
    context = read(session, places).context
    read_one = session.format.read_compaction
    found = [read_one(session.lines, ref) for ref in context.compactions]
    losses = [noted_loss(one.details) for one in found if one is not None]
    n_compactions = len(context.compactions)
    known = secrets_for(session.header, places)
    return HistoryReport(
        session_id=session.header.session_id,
        path=str(session.path),
        compactions=[_report(one, known) for one in found if one is not None],
        degradation=evaluate(n_compactions),
        measured=report_loss(summed_loss(losses)),
        n_measured=sum(loss is not None for loss in losses),
        is_death_spiral=is_death_spiral(n_compactions),
    )


def history_text(report: HistoryReport) -> str:
    if not report.compactions:
        return "This session has not been compacted."
    lines = ["Compaction History", RULE]
    for number, one in enumerate(report.compactions, 1):
        tokens = f"{_tokens(one.tokens_before)} → {_tokens(one.tokens_after)} tokens"
        ratio = "" if one.ratio is None else f" ({one.ratio:.1f}:1)"
        noted = " · ".join(part for part in (one.trigger, one.layer) if part)
        lines.append(f"{number:>3}. {one.at or 'unknown time'}  {tokens}{ratio}  {noted}".rstrip())
        first = next((line for line in one.summary.split("\n") if _tells(line)), "")
        lines.append(f"     {first.strip()[:74]}")
        if one.measured is not None:
            lines.append(f"     {one.measured.text}")
    degradation = report.degradation
    risk = degradation.risk.capitalize()
    lines += [
        "",
        f"Degradation Risk: {risk}, about {degradation.loss_percent} % lost"
        " (by their number alone)",
    ]
    if report.measured is not None:
        lines.append(
            f"Measured Loss: {report.measured.loss_percent:g} %, {report.measured.text}"
            f" ({report.n_measured} of {degradation.n_compactions} compactions measured)"
        )
    if report.is_death_spiral:
        lines.append("More than 3 compactions: start a fresh session soon.")
    lines.append(degradation.recommendation)
    return "\n".join(lines)


def _report(one: Compaction, known: tuple[str, ...]) -> CompactionReport:
    before, after = one.n_tokens_before, one.n_tokens_after
    return CompactionReport(
        id=one.entry_id,
        at=rfc3339(one.at_ms),
        trigger=one.trigger,
        layer=one.layer,
        tokens_before=before,
        tokens_after=after,
        ratio=round(before / after, 2) if before and after else None,
        n_messages=one.n_messages,
        measured=report_loss(noted_loss(one.details)),
        summary=mask(one.summary, known),
    )


def _tokens(n_tokens: int | None) -> str:
    return "?" if n_tokens is None else f"{n_tokens:,}"


def _tells(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")
