"""What the last dream of a workspace saw, as the state file has it."""

from datetime import datetime
from typing import Annotated

import msgspec


class DreamState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the last dream saw; as it stands here where there was none."""

    last_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    logs: str = ""
    """A fingerprint of the logs that it read."""
    log_day: str = ""
    """`YYYY-MM-DD`, by the local clock then."""
    log_bytes: int = 0
    """Size of that day's log."""
