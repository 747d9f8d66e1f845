"""Sessions that are made of Claude Code's: branches, and those that a bundle holds."""

from collections.abc import Sequence

from ullage.core.change.edit import NewHeader, NewSession
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import JsonObject, Lines
from ullage.formats.agent_info import Transfer
from ullage.formats.agents.claude_code.edit import Copier, live_conversation
from ullage.formats.json_line import objects_in, write_line


def _branch(lines: Lines, context: Context, header: NewHeader) -> NewSession:
    """Copy the live conversation and its settings, as each change of a session does."""
    copier = Copier(lines, context, header.session_id)
    copier.add_thread(live_conversation(lines, context), {})
    copier.add_settings()
    return copier.new_session()


def _list_records(lines: Lines, context: Context) -> list[JsonObject] | None:
    if context.header.parent_session_id is not None:
        return None
    header = NewHeader(session_id="", timestamp="", cwd="")
    return objects_in(_branch(lines, context, header).data)


def _make_session(records: Sequence[JsonObject], dialect: str, header: NewHeader) -> NewSession:
    """Give records the id and the folder of the session that they come to."""
    del dialect
    own: JsonObject = {"sessionId": header.session_id, "cwd": header.cwd}
    natives = (
        native | {key: own[key] for key in own if isinstance(native.get(key), str)}
        for native in records
    )
    return NewSession(
        session_id=header.session_id,
        name=f"{header.session_id}.jsonl",
        data=b"".join(map(write_line, natives)),
    )


TRANSFER = Transfer(branch=_branch, list_records=_list_records, make_session=_make_session)
