"""What server and client say to each other beyond the Language Server Protocol.

The extension's `src/protocol.ts` mirrors this file; tests/lsp/test_protocol_mirror.py compares.
"""

from typing import Final, Literal

from attrs import frozen

GAUGE_NOTIFICATION: Final = "ullage/gauge"
COMPACT_COMMAND: Final = "ullage.compact"
STATUS_COMMAND: Final = "ullage.status"


@frozen(kw_only=True)
class SessionRef:
    agent: str
    sessionId: str
    path: str


@frozen(kw_only=True)
class GaugeParams:
    session: SessionRef | None
    text: str
    tooltip: str
    level: Literal["normal", "warning", "error"]
    label: str


@frozen(kw_only=True)
class SessionArgument:
    session: str | None = None


@frozen(kw_only=True)
class CompactResult:
    outcome: Literal["compacted", "cancelled", "nothing"]
    message: str


@frozen(kw_only=True)
class StatusResult:
    text: str
