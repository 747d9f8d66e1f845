"""What a client is told of what can be done with the session of the gauge."""

import pytest

from running import Place


@pytest.mark.parametrize("is_on", [True, False])
async def test_the_gauge_says_whether_its_session_is_compacted_by_itself(
    editor, workspace_session, place: Place, is_on: bool
) -> None:
    config = f"compaction:\n  autoEnabled: {str(is_on).lower()}\n"
    place.write(str(place.home / ".openclaw/config.yaml"), config.encode())
    await editor.start(place.cwd)
    gauge = await editor.gauge(lambda gauge: gauge.session is not None)
    assert (gauge.canWrite, gauge.isAutomatic) == (True, is_on)
