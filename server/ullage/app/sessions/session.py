"""A session whose agent is known; apart from `open`, which knows all agents."""

import os
from pathlib import Path

import msgspec

from ullage.core.gauge.status import FreshStart
from ullage.core.text.shell_word import quote_word
from ullage.core.transcript.entries import Header
from ullage.formats.agent_info import AgentInfo, Editor
from ullage.store.files.places import Places
from ullage.store.transcript.database import SessionRows, find_databases
from ullage.store.transcript.reader import FileLines, SessionLines


class ChangeTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The file of a session that may be changed, and what works edits into it."""

    editor: Editor
    lines: FileLines


class Session(msgspec.Struct, frozen=True, kw_only=True):
    header: Header
    agent_info: AgentInfo | None
    """None where its runtime holds the messages."""
    lines: SessionLines
    key: str | None = None
    """What its runtime calls it, if that says so."""
    runtime: str = ""
    """Name of the runtime that holds the messages."""
    named: str | None = None
    """What the user called it on the command line."""

    @property
    def agent(self) -> AgentInfo:
        """The agent of a session that was read from a transcript."""
        if self.agent_info is None:
            raise AssertionError("a transcript has an agent")
        return self.agent_info

    @property
    def path(self) -> Path:
        return self.lines.path

    def find_change_target(self, way_out: str | None = None) -> ChangeTarget | str:
        """Give what is needed to change the session, or say why it is not ours to write to.

        The way out of that is the agent's own compaction where no other is given.
        """
        agent = self.agent_info
        if agent is None:
            return "its messages are held by a runtime, which compacts it"
        if agent.editor is None or not isinstance(self.lines, FileLines):
            hint = agent.way_out if way_out is None else way_out
            return ": ".join(filter(None, (f"Ullage only reads sessions of {agent.name}", hint)))
        refusal = agent.editor.refuse(self.header)
        return refusal or ChangeTarget(editor=agent.editor, lines=self.lines)

    def command(self, words: str) -> str:
        """Write a command of ours that means this session, as the user named it."""
        option = "" if self.named is None else f" --session {quote_word(self.named)}"
        return f"ullage {words}{option}"

    def fresh_start(self) -> FreshStart:
        """Name the commands that take it over into a fresh session."""
        if self.agent_info is not None and isinstance(self.find_change_target(), ChangeTarget):
            return FreshStart(
                save=self.command("context export backup.json"),
                give="ullage context import backup.json",
                short=f"{self.command('context export')} → fresh session → import",
            )
        write = self.command("checkpoint write")
        read = self.command("checkpoint restore --into text")
        return FreshStart(
            save=write,
            give=f"Give it what `{read}` prints",
            short=f"{write} → fresh session → give it what `{read}` prints",
        )

    @property
    def state_key(self) -> str:
        """Name its state on disk."""
        return self.key or f"{self.header.agent}:{self.header.session_id}"

    def is_believed(self, places: Places) -> bool:
        """Whether it worked in the folder that it names, so that something may be put there.

        Any file can name any folder. One counts that lies where its agent keeps its sessions or is
        one of its databases, one in the very folder that it names, and any where the user works in
        that folder.
        """
        cwd, agent = self.header.cwd, self.agent_info
        if cwd is None or agent is None:
            return True
        folder, path = _real(cwd), _real(self.path)
        if folder in (_real(places.cwd), path.parent):
            return True
        folders = agent.own_folders(places.env, places.home)
        if any(path.is_relative_to(_real(own)) for own in folders):
            return True
        databases = find_databases(agent.database_patterns(places.env, places.home))
        return path in map(_real, databases)

    @property
    def may_be_chat(self) -> bool:
        """Whether its transcript may be of a chat with another person than this machine's user."""
        agent = self.agent_info
        return agent is not None and agent.has_chats and isinstance(self.lines, SessionRows)

    @property
    def has_plain_key(self) -> bool:
        """Whether its key says no more than which session of its agent it is.

        Other keys name a chat, maybe with another person than this machine's user.
        """
        names = (self.header.agent, self.runtime)
        return self.state_key in {f"{name}:{self.header.session_id}" for name in names}


def _real(path: str | Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        # It has a null character, and is no file's.
        return Path(path)
