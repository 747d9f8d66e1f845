"""The row of an agent: all that Ullage knows of it, made by the agent's own package."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import msgspec

from ullage.core.change import edit
from ullage.core.config.agent_settings import AgentSettings, NumberSetting
from ullage.core.gauge.gauge import CompactionPoint
from ullage.core.gauge.window import Window
from ullage.core.text.shell_word import is_quotable, quote_word
from ullage.core.transcript.context import Compaction, Context, PruneRecord, Sketch
from ullage.core.transcript.entries import (
    Agent,
    Entry,
    Header,
    JsonObject,
    Line,
    Lines,
    MemoryLines,
    Problem,
    Transcript,
)
from ullage.core.transcript.lineage import CompactionRef, Index
from ullage.formats.doctor import RecordRules
from ullage.formats.in_memory import MessageShape
from ullage.formats.reading import Reading

if TYPE_CHECKING:
    from ullage.core.assembly.eligible_skills import WorkspaceSkills
    from ullage.core.assembly.listed_skills import ListedSkill, SkillRequest
    from ullage.core.assembly.parts import SentText
    from ullage.core.assembly.skill_frontmatter import SkillFile
    from ullage.core.documents.tool_servers import ServerEntry

Env: TypeAlias = Mapping[str, str]


def _none(*_: object) -> None:
    """Stand for what an agent does not have, or what cannot be done with it."""


def _nothing(*_: object) -> tuple[()]:
    return ()


def _keep_text(_: Path, text: str) -> str:
    return text


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of an agent's own."""

    variable: str
    """Of the environment; names the folder where it lies elsewhere."""
    default: str | None
    """Below the user's home; None where only the variable names it."""
    folders: tuple[str, ...]
    """The folders in it that are meant, below which all sessions are."""

    def paths(self, env: Env, home: Path) -> tuple[Path, ...]:
        if self.default is None and not env.get(self.variable):
            return ()
        return tuple(self.root(env, home) / name for name in self.folders)

    def root(self, env: Env, home: Path) -> Path:
        """Give the agent's own folder; the user's home where it has none by default."""
        chosen = env.get(self.variable)
        return Path(chosen).expanduser() if chosen else home / (self.default or "")


def first_paths(homes: Sequence[Home], env: Env, home: Path) -> tuple[Path, ...]:
    """Give the folders of sessions in the first home that is named."""
    return next((paths for own in homes if (paths := own.paths(env, home))), ())


class InstructionLoader(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent finds its instructions."""

    reader: str
    """The name of the program that reads them."""
    choices: tuple[tuple[str, ...], ...]
    """Names in a folder, in the order of their loading; of alternatives, the first that is there.
    One that ends in `/**` stands for all Markdown below it."""
    folder: str
    """The agent's own folder: what lies in it is for that agent alone."""
    home: Home | None = None
    """The user's own folder, from which it loads before all others."""
    home_choices: tuple[tuple[str, ...], ...] = ()
    reach: Literal["folder", "workspace", "repository", "everywhere"] = "workspace"
    """From where on it loads, down to the folder that it works in: that folder alone, the top of
    the workspace, of the Git repository if there is one, or of the file system."""
    import_hops: int = 0
    """How far `@docs/rules.md` is followed, which stands for all that is in that file."""
    imports_outside: bool = True
    """Whether a project's files may import what lies outside of the folder that is worked in."""
    excludes: tuple[str, ...] = ()
    """Patterns of paths that are passed over."""
    max_bytes: int | None = None
    """Of all that is loaded but from the user's own folder."""
    has_memory: bool = True
    find_memory: Callable[[Path, Env, Path], Path | None] = _none
    """Gives the index of memory of the top of a project, which is loaded last."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Parts of the system prompt and the files for them: of the agent's folder in the project, else
    of the user's own."""
    prepare: Callable[[Path, str], str] = _keep_text
    """Gives what is sent of a file's text before any cut; nothing where it is not sent at first."""
    configure: "Callable[[InstructionLoader, AgentSettings, Path], InstructionLoader] | None" = None
    """Applies the user's settings for the folder that is worked in."""
    later_names: frozenset[str] = frozenset()
    """Those that it did not know in the versions that kept the system prompt out of transcripts."""
    has_databases: bool = False
    """Whether its sessions are in databases: the transcripts of its row are another program's."""

    @property
    def is_top_only(self) -> bool:
        return self.reach == "folder"


LooseFiles: TypeAlias = Literal["", "top", "below"]


class SkillFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that may hold skills."""

    path: Path
    """Within the package of `program`, where that is named."""
    program: str = ""
    scope: str
    """Which kind of place it is, as `project`."""
    max_depth: int = 1
    """How far below it a folder with a `SKILL.md` may lie."""
    has_hidden: bool = False
    """Whether folders count whose name begins with a dot."""
    prefix: str = ""
    """Of the name of each, as `plugin:`."""
    loose_files: LooseFiles = ""
    """Where Markdown files are skills without a folder: in itself, or in folders below it."""
    is_commands: bool = False
    """Whether any Markdown file below it is one, by its path."""
    is_contained: bool = False
    """Whether a link may not lead out of it."""
    policy_file: str = ""
    """What an agent reads too beside a `SKILL.md`, as YAML."""


class SkillLoader(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent finds its skills, and what it tells its model of them."""

    folder: str
    """The agent's own folder."""
    list_files: Callable[[Env, Path], tuple[Path, ...]] = _nothing
    """Lists the files that tell of skills beside the settings, as which plug-ins are installed."""
    list_folders: Callable[[Sequence[Path], Env, Path, AgentSettings], tuple[SkillFolder, ...]]
    """Lists where they may lie, given the working folder and those above it up to the root of the
    repository."""
    goes_on_up: bool = False
    """Whether it looks in all folders above one that is in no repository."""
    list_skills: "Callable[[Sequence[SkillFile], SkillRequest], tuple[ListedSkill, ...]]"
    """Gives all in the order of the request, also those that it does not tell of."""
    find_eligible: "Callable[[Sequence[SkillFile], SkillRequest], WorkspaceSkills] | None" = None
    """Finds those that a runtime is given whose context Ullage assembles; None where none is."""
    list_uses: Callable[[bytes], Iterable[str]]
    """Lists the skills whose use a line of a transcript notes, by name or by folder."""
    off_file: str
    """The file of a skill, in its folder, in which `off_line` keeps it from the model."""
    off_line: str


L = TypeVar("L", InstructionLoader, SkillLoader)


def find_loader(loaders: Sequence[L], transcript: Path) -> L | None:
    """Give that of the program that a transcript is of, where several have alike ones."""
    by_place = (loader for loader in loaders if loader.folder in transcript.parts)
    return next(chain(by_place, loaders), None)


class ToolServers(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent's MCP servers are configured, and how its user turns one off."""

    file: str
    """Of a workspace, as `.mcp.json`; one that names the agent's own folder counts anywhere."""
    home: Home | None = None
    """The user's own folder, whose file of that name counts too."""
    list_servers: "Callable[[str], Iterable[ServerEntry]]"
    """Lists those of a text; none where it is damaged, and not those that it turns off."""
    off_file: str = ""
    """Settings of a workspace's user; empty where only the file itself can turn one off."""
    off_key: str = ""
    """Where they list the names of those that are off."""


def _keep_session(session: edit.NewSession, _: str) -> edit.NewSession:
    return session


class Editor(msgspec.Struct, frozen=True, kw_only=True):
    """What works edits of a context into an agent's files."""

    refuse: Callable[[Header], str | None]
    """Says why a session's files cannot be changed; None where they can."""
    makes_copies: bool = False
    """Whether a change makes a new session, and leaves this one as it is."""
    compact: Callable[[Lines, Context, edit.CompactionEdit], edit.FileChange]
    """Puts a summary in the place of what stands before the first kept message."""
    prune: Callable[[Lines, Context, edit.PruneEdit], edit.FileChange]
    """Puts placeholders in the place of old output."""
    restore: Callable[[Lines, Context, edit.RestoreEdit], edit.FileChange]
    """Continues the session with the text of a checkpoint at its end; may raise
    `WriteNotSupported`."""
    begin: Callable[[Lines, Context, edit.RestoreEdit], edit.NewSession]
    """Begins a session with nothing but the text of a checkpoint; may raise
    `WriteNotSupported`."""
    undo_compaction: Callable[[Lines, Context, Compaction, edit.UndoEdit], edit.FileChange]
    """Makes the context from before the last compaction current again; may raise `Refused`."""
    entitle: Callable[[edit.NewSession, str], edit.NewSession] = _keep_session
    """Gives the new session in which one goes on the title of that."""
    undo_restore: Callable[[Lines, Context, edit.UndoEdit], edit.FileChange | None] = _none
    """Takes out the text of a checkpoint, if that was the last change; None where it was not, or
    where the session with the text is a file of its own."""
    undo_prune: Callable[[Lines, Sequence[edit.LineChange]], edit.FileChange | None] = _none
    """Puts back the original lines of a prune, given the changes that it made; None where they
    are not in the file any more, or where the pruned session is a file of its own. What was written
    since stays."""
    truncated_dialects: frozenset[str] = frozenset()
    """Forms of which a compaction may take out of the file what it replaces."""
    truncate: Callable[[Lines, Context, edit.CompactionEdit], edit.FileChange] | None = None
    """Puts a summary in the place of all before the first kept message, in the file itself."""
    put_back: Callable[[Lines, Sequence[edit.LineChange]], edit.FileChange | None] = _none
    """Takes a truncation back, given the changes that it made; None where the file does not begin
    as it was left."""


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """What makes sessions of sessions: branches, and those that a bundle holds."""

    branch: Callable[[Lines, Context, edit.NewHeader], edit.NewSession]
    """Begins a session that has all that these lines have; may raise `Refused`."""
    list_records: Callable[[Lines, Context], list[JsonObject] | None]
    """Lists the records that make a context, oldest first; None where no session could be made of
    them."""
    make_session: Callable[[Sequence[JsonObject], str, edit.NewHeader], edit.NewSession]
    """Makes a session of such records, in a dialect; its name may lead through folders."""


class RunningSession(msgspec.Struct, frozen=True, kw_only=True):
    """What decides when an agent compacts a session by itself."""

    header: Header
    path: Path
    model: str | None
    window: Window
    settings: AgentSettings


def _list_natives(context: Context) -> list[JsonObject]:
    return [item.native for item in context.items]


def _keep_message(native: JsonObject, _: Sequence[edit.Replacement]) -> JsonObject:
    return native


def _is_plain(session_id: str) -> bool:
    """Whether a shell and a program take an id for nothing but an id."""
    is_word = session_id.isascii() and session_id.translate(_JOINTS).isalnum()
    return is_word and session_id[:1].isalnum()


_JOINTS = str.maketrans("", "", "._-")


class TitleField(msgspec.Struct, frozen=True, kw_only=True):
    """Where a record may hold what the agent itself calls its session; empty text takes it back."""

    keys: tuple[str, ...]
    """Leads through objects to the text."""
    kind: str = ""
    """The record's type; empty where the keys alone tell it."""
    leaf_key: str = ""
    """Names an entry that must be of the same transcript."""
    defaults: tuple[str, ...] = ()
    """How titles begin that the agent gives before it has one."""


class AgentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One agent. What a default stands for is what the agent does not have."""

    agent: Agent
    name: str
    """As users know it."""
    way_out: str
    """What a user can do with a session that is not ours to write to."""
    fork_hint: str
    """How its users branch a session; `{session_id}` stands for the session's."""
    resume: str = ""
    """The command that continues a session, of `{session_id}` and the quoted `{path}`."""
    shell_variables: tuple[str, ...]
    """Variables of the environment that it sets for the commands that it runs."""

    homes: tuple[Home, ...]
    """Of several, the first that is named counts."""
    other_homes: tuple[Home, ...] = ()
    """Those of a program whose sessions are alike, and where transcripts are not looked for."""
    session_folders: Callable[[Path, Env, Path], tuple[Path, ...]] | None = None
    """Gives the folders that may hold the transcripts of a workspace; None where there are
    databases alone."""
    has_nested_folders: bool = False
    """Whether transcripts lie in folders below those."""
    subagent_folders: Callable[[Path], tuple[Path, ...]] = _nothing
    """Gives the folders that may hold the transcripts of a session's subagents."""
    titles: tuple[TitleField, ...] = ()
    """The strongest first; of several records of one kind the last counts."""
    has_titles_anywhere: bool = False
    """Whether a title may stand in the middle of a transcript; else it is written again near the
    end, or stands at the beginning."""
    live_folders: Callable[[Env, Path], tuple[Path, ...]] = _nothing
    """Gives the folders where the agent notes the sessions that it has open, one file each."""
    database_patterns: Callable[[Env, Path], tuple[tuple[Path, str], ...]] = _nothing
    """Gives folders and what a database of sessions in each is called."""
    has_chats: bool = False
    """Whether such a database holds chats, maybe with another person than this machine's user."""

    setting_files: Callable[[Path, Path, Env, Path], tuple[Path, ...]] = _nothing
    """Gives the files with the agent's own settings for a transcript and the folder that it worked
    in, strongest first."""
    setting_keys: tuple[str, ...] = ()
    """All that is read of them where they are JSON; the agent writes others at every start."""
    find_window: Callable[[AgentSettings, str, str], NumberSetting | None] = _none
    """Finds what the settings say of the window of a provider's model."""
    find_compaction_point: Callable[[RunningSession], CompactionPoint | None] = _none
    """Tells where the agent compacts by itself; None where it never does."""

    asking_tools: tuple[str, ...] = ()
    """Tools whose call waits for its user: a question, a plan to be approved."""
    read_header: Callable[[Lines], Header | None]
    """Recognizes a transcript by its first lines; None where it is another agent's."""
    read_branch: Callable[[Lines], str | None] = _none
    """Tells the branch that was checked out when the last record was written."""
    read_entries: Callable[[Lines, Header | None], Iterable[Entry | Problem | None]]
    """Reads all lines; None for those that are blank or no entry."""
    read_context: Callable[[Lines, Header, Index], Reading]
    """Reads backwards until the context and its compactions are known."""
    extend: Callable[[Reading, Sequence[Line], int], Reading | None] = _none
    """Adds whole lines that were appended since, given the length of the transcript now; None
    where only a new reading can tell."""
    read_compaction: Callable[[Lines, CompactionRef], Compaction | None] = _none
    """Reads a compaction from the place that an index points to."""
    read_prune: Callable[[Line], PruneRecord | None] | None = None
    """Reads a line that notes a prune, None where it is another; looks at its bytes first."""
    list_sent_texts: "Callable[[Lines, Context], Iterable[SentText]]" = _nothing
    """Lists what a request has beside the conversation, in the order in which it is sent, as far as
    the transcript holds it."""
    messages: Callable[[Context], list[JsonObject]] = _list_natives
    """Lists the messages that would be sent, in the agent's own shape."""
    prune_message: Callable[[JsonObject, Sequence[edit.Replacement]], JsonObject] = _keep_message
    """Puts placeholders into a message in the agent's own shape; the rest stays as it is."""
    sketch: Callable[[Line, Header], Sketch | Problem | None] | None = None
    """Reads one line for an outline; None for blank lines and what is no entry."""

    read_flush_epoch: Callable[[Lines, Header], int | None] | None = None
    """Reads the epoch of the last flush of memory where a session may note it itself."""

    editor: Editor | None = None
    """None where we change no files of it."""
    transfer: Transfer | None = None
    """None where we make no sessions of it."""
    doctor: RecordRules | None = None
    in_memory: MessageShape | None = None
    """How its messages look in memory, where it has a shape of its own."""
    loaders: tuple[InstructionLoader, ...] = ()
    """Of several programs whose sessions are alike, that of the transcripts first."""
    import_skills: Callable[[], tuple[SkillLoader, ...]] = _nothing
    """Imports what reads its skills, which few runs need."""
    import_tool_servers: Callable[[], ToolServers | None] = _none
    """Imports what reads where its MCP servers are configured; None where we do not know."""

    @property
    def skills(self) -> tuple[SkillLoader, ...]:
        """As its loaders; none where we know of no skills, or not by which rule they are told."""
        return self.import_skills()

    @property
    def tool_servers(self) -> ToolServers | None:
        return self.import_tool_servers()

    def session_roots(self, env: Env, home: Path) -> tuple[Path, ...]:
        """Give the folders below which all transcripts are."""
        return () if self.session_folders is None else first_paths(self.homes, env, home)

    def own_folders(self, env: Env, home: Path) -> tuple[Path, ...]:
        """Give the folders below which any transcript is the agent's own."""
        others = (path for own in self.other_homes for path in own.paths(env, home))
        return (*self.session_roots(env, home), *others)

    def workspace_folders(self, cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
        """Give the folders that may hold the transcripts of a workspace."""
        return () if self.session_folders is None else self.session_folders(cwd, env, home)

    def resume_command(self, header: Header, path: Path) -> str | None:
        """Give the command that continues a session; None where there is none.

        The agent may not read its form: pi would take such a file for damaged, and begin it anew
        (0.73.1, run). Its id may be no word, but an option, or more for a shell to run; its path
        may be more for a shell, or for the terminal that the command is typed into.
        """
        if "{session_id}" in self.resume:
            is_word = _is_plain(header.session_id)
        else:
            is_word = is_quotable(str(path))
        if header.dialect or not is_word:
            return None
        return self.resume.format(session_id=header.session_id, path=quote_word(str(path)))

    def fork_command(self, header: Header) -> str:
        """Give the way in which the agent branches a session."""
        session_id = header.session_id if _is_plain(header.session_id) else "SESSION_ID"
        return self.fork_hint.format(session_id=session_id)

    def parse(self, data: bytes) -> Transcript:
        """Parse a whole transcript without losing a byte."""
        lines = MemoryLines(data)
        header = self.read_header(lines)
        entries = tuple(self.read_entries(lines, header))
        return Transcript(
            header=header,
            lines=tuple(lines.forward()),
            entries=tuple(entry for entry in entries if isinstance(entry, Entry)),
            problems=tuple(entry for entry in entries if isinstance(entry, Problem)),
        )
