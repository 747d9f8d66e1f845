"""`context/assemble`: from its params to the use case, and back to its answer."""

import asyncio

from ullage.agent import assembly_protocol as protocol
from ullage.agent.sessions import OpenSession, Sessions


async def assemble_request(sessions: Sessions, params: protocol.Assemble) -> protocol.Assembled:
    """Build a whole request; the session stays as it is."""
    async with sessions.use(params.session) as session:
        return await asyncio.to_thread(_assemble, session, params)


def _assemble(session: OpenSession, params: protocol.Assemble) -> protocol.Assembled:
    # Who assembles nothing does not pay for what it needs.
    from ullage.app.assembly.assemble import AssemblyWish, assemble
    from ullage.app.assembly.source import runtime_source

    wish = AssemblyWish(
        mode=params.mode,
        is_primary=params.is_primary,
        parameters=params.parameters,
        subagent=params.subagent,
        tool_policy=params.tool_policy,
        skill_filter=params.skill_filter,
        event=params.event,
    )
    done = assemble(wish, runtime_source(session.runtime, session.progress, params.messages))
    return protocol.Assembled(
        system=done.system,
        sections=[
            protocol.Section(name=section.name, n_tokens=section.n_tokens)
            for section in done.sections
        ],
        files=[
            protocol.SourceFile(
                path=file.path,
                kind=file.kind,
                n_chars=file.n_chars,
                n_tokens=file.n_tokens,
                cut=file.cut,
            )
            for file in done.files
        ],
        skills=protocol.Skills(
            prompt=done.skills.prompt,
            skills=[
                protocol.NamedSkill(name=skill.name, primary_env=skill.primary_env)
                for skill in done.skills.skills
            ],
            version=done.skills.version,
        ),
        messages=list(done.messages),
        tools=list(done.tools),
        budget=done.budget,
        warnings=list(done.warnings),
    )
