"""The parts of a session's next request: from its transcript, else from the disk, by its agent's
own rules; what is left of the figure that was reported is the agent's own."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from ullage.app.assembly.skill_folders import list_session_skills
from ullage.app.assembly.skill_use import advise_on_skills
from ullage.app.documents.check import Surroundings
from ullage.app.documents.instruction_loading import configure, home_of, list_loaded
from ullage.app.documents.instructions import find_cut
from ullage.app.gauge.inspect import Inspection, inspect
from ullage.app.sessions.load import Loaded
from ullage.core.assembly.advice import (
    advise_on_base,
    advise_on_files,
    advise_on_tools,
    count_tools,
)
from ullage.core.assembly.parts import (
    IN_TRANSCRIPT,
    INSTRUCTIONS,
    MEMORY,
    SKILLS,
    SYSTEM_PROMPT,
    SentText,
    count_parts,
)
from ullage.core.config.settings import Config
from ullage.core.text.positions import utf16_length
from ullage.formats.agent_info import InstructionLoader, find_loader
from ullage.store.files.work_tree import list_folders_up

_FROM_FILES = (INSTRUCTIONS, MEMORY, SKILLS)
"""Parts of which each file is sent; of others one file alone."""


def inspect_session(loaded: Loaded, n_largest: int, config: Config) -> Inspection:
    """Inspect a session, the parts of its next request among the rest."""
    texts, items, count = list_sent_texts(loaded, config), loaded.context.items, loaded.count
    gauge = loaded.status.gauge
    window = gauge.window.n_tokens
    parts = count_parts(texts, items, gauge, count)
    # A subagent may begin with its session's context, which its own file does not hold.
    is_whole = loaded.session.header.parent_session_id is None
    advice = (
        *(advise_on_base(parts, window) if is_whole else ()),
        *advise_on_files(texts, count),
        *advise_on_tools(count_tools(texts, items, count), window),
        *advise_on_skills(loaded),
    )
    return inspect(loaded, n_largest, parts, advice)


def list_sent_texts(loaded: Loaded, config: Config) -> tuple[SentText, ...]:
    """List the texts beside the conversation.

    Where the transcript holds them, the disk only tells where they come from and what was cut.
    """
    session = loaded.session
    if session.agent_info is None:
        return ()
    texts = tuple(session.agent.list_sent_texts(session.lines, loaded.context))
    is_held = any(text.name in (SYSTEM_PROMPT, INSTRUCTIONS) for text in texts)
    on_disk = list_texts_on_disk(loaded, config, knows_later_names=is_held)
    if is_held:
        return tuple(chain.from_iterable(_name_sources(text, on_disk) for text in texts))
    prompts = {text.name: text for text in reversed(on_disk) if text.name not in _FROM_FILES}
    return (*prompts.values(), *(t for t in on_disk if t.name in _FROM_FILES), *texts)


def list_texts_on_disk(
    loaded: Loaded, config: Config, *, knows_later_names: bool
) -> tuple[SentText, ...]:
    """List what the agent of a session would load now where the session works."""
    session = loaded.session
    loader, cwd = find_loader(session.agent.loaders, session.path), session.header.cwd
    if loader is None or cwd is None:
        return ()
    if not knows_later_names:
        loader = _leave_out(loader, loader.later_names)
    return tuple(_list_on_disk(loader, Path(cwd), loaded, config))


def _leave_out(loader: InstructionLoader, unknown: frozenset[str]) -> InstructionLoader:
    choices, home_choices = (
        tuple(tuple(name for name in names if name not in unknown) for names in each)
        for each in (loader.choices, loader.home_choices)
    )
    return msgspec.structs.replace(loader, choices=choices, home_choices=home_choices)


def _list_on_disk(
    loader: InstructionLoader, folder: Path, loaded: Loaded, config: Config
) -> Iterator[SentText]:
    places = loaded.secrets.places
    around = Surroundings(config=config, places=places, workspaces=(folder,), texts={})
    for path, text in list_loaded(loader, folder, around).items():
        yield _read_file(INSTRUCTIONS, path, text, loader, around)
    memory = _find_memory(loader, folder, around)
    text = None if memory is None else around.text_of(memory)
    if memory is not None and text:
        yield _read_file(MEMORY, memory, text, loader, around)
    for name, file in loader.prompts:
        # Which of the two is sent depends on the user's trust in the project, too.
        for at in (folder / loader.folder, home_of(loader, around) or folder):
            if text := around.text_of(at / file):
                yield SentText(name=name, text=text.strip(), source=str(at / file))
    for skill in list_session_skills(loaded):
        if skill.is_listed:
            yield SentText(name=SKILLS, text=skill.text, source=skill.path, cut=skill.cut)


def _find_memory(loader: InstructionLoader, folder: Path, around: Surroundings) -> Path | None:
    if not configure(loader, folder, around).has_memory:
        return None
    top = list_folders_up(folder)[-1]
    return loader.find_memory(top, around.places.env, around.places.home)


def _read_file(
    name: str, path: Path, text: str, loader: InstructionLoader, around: Surroundings
) -> SentText:
    """Give what is sent of a file."""
    text = loader.prepare(path, text)
    cut = find_cut(loader, path, text, around)
    if cut is None:
        return SentText(name=name, text=text, source=str(path))
    left_out = cut.left_out(text)
    return SentText(
        name=name,
        text=cut.sent(text),
        source=str(path),
        cut=f"{utf16_length(left_out):,} characters: {cut.reader} {cut.rule}",
        left_out=left_out,
    )


def _name_sources(text: SentText, on_disk: Sequence[SentText]) -> Iterator[SentText]:
    """Part a text of a transcript by the files that it was made of, as far as they are the same."""
    if text.source != IN_TRANSCRIPT:
        file = next((file for file in on_disk if file.source == text.source), None)
        cut, left_out = ("", "") if file is None else (file.cut, file.left_out)
        yield msgspec.structs.replace(text, cut=cut, left_out=left_out)
        return
    end = 0
    for file in on_disk:
        sent = file.text.strip()
        start = text.text.find(sent, end) if file.name == text.name and sent else -1
        if start >= 0:
            if between := text.text[end:start].strip():
                yield msgspec.structs.replace(text, text=between)
            yield msgspec.structs.replace(
                text, text=sent, source=file.source, cut=file.cut, left_out=file.left_out
            )
            end = start + len(sent)
    if rest := text.text[end:].strip():
        yield msgspec.structs.replace(text, text=rest)
