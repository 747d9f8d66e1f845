"""`ullage doctor`: its exit code tells a script whether something is damaged."""

from pathlib import Path

import pytest

from running import Place


@pytest.mark.parametrize(("torn", "exit_code"), [(b"", 0), (b'{"type": "mess\n{}\n', 3)])
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "JSON"])
def test_a_damaged_session_is_a_finding(
    place: Place, session: Path, options: tuple[str, ...], torn: bytes, exit_code: int
) -> None:
    with session.open("ab") as file:
        file.write(torn)
    done = place.run("doctor", "--session", session, *options)
    assert (done.returncode, done.stderr) == (exit_code, "")
